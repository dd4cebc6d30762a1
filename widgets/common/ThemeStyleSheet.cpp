// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Theme.h"

#include <QHash>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

// Names between @ signs are replaced by colours of the theme and by multiples of the font's height.
const char *const sheet = R"(
QMainWindow, QMainWindow::separator { background: @window@; }
QMainWindow::separator { width: @s1@px; height: @s1@px; }
QToolTip { background: @raised@; color: @text@; border: 1px solid @border@; padding: @s2@px; }
QMenuBar { background: @window@; border-bottom: 1px solid @border@; padding: 1px @s2@px; }
QMenuBar::item { padding: @s2@px @s3@px; border-radius: @s2@px; background: transparent; }
QMenuBar::item:selected { background: @accentSoft@; }
QMenu { background: @raised@; border: 1px solid @border@; padding: @s2@px; }
QMenu::item { padding: @s2@px @s5@px @s2@px @s4@px; border-radius: @s2@px; }
QMenu::item:selected { background: @accentSoft@; color: @text@; }
QMenu::item:disabled { color: @disabled@; }
QMenu::separator { height: 1px; background: @border@; margin: @s2@px @s3@px; }
QToolBar { background: @window@; border: none; border-bottom: 1px solid @border@; spacing: @s2@px; padding: @s2@px @s3@px; }
QToolBar::separator { width: 1px; background: @border@; margin: @s2@px @s2@px; }
QToolButton { border: 1px solid transparent; border-radius: @s2@px; padding: @s2@px @s3@px; background: transparent; color: @text@; }
QToolButton:hover:enabled { background: @accentSoft@; }
QToolButton:pressed, QToolButton:checked { background: @selection@; }
QToolButton:focus { border-color: @accent@; }
QToolButton:disabled { color: @disabled@; }
QPushButton { border: 1px solid @strongBorder@; border-radius: @s2@px; padding: @s2@px @s4@px; background: @raised@; color: @text@; }
QPushButton:hover:enabled { background: @accentSoft@; border-color: @accent@; }
QPushButton:pressed { background: @selection@; }
QPushButton:checked { background: @selection@; border-color: @accent@; }
QPushButton:focus { border-color: @accent@; outline: none; }
QPushButton:disabled { color: @disabled@; border-color: @border@; background: @window@; }
QPushButton[accent="true"]:enabled { background: @accent@; color: @onAccent@; border-color: @accent@; }
QPushButton[accent="true"]:enabled:focus { border: 2px solid @text@; }
QPushButton[flat="true"] { border-color: transparent; background: transparent; color: @accent@; padding: @s2@px; text-align: left; }
QPushButton[flat="true"]:hover:enabled { background: @accentSoft@; }
QPushButton[flat="true"]:focus { border-color: @accent@; }
QLineEdit, QSpinBox, QComboBox { border: 1px solid @strongBorder@; border-radius: @s2@px; padding: @s2@px @s3@px; background: @base@; color: @text@; selection-background-color: @selection@; selection-color: @text@; }
QLineEdit:focus, QSpinBox:focus, QComboBox:focus { border-color: @accent@; }
QTabWidget::pane { border: none; }
QTabBar { background: @window@; }
QTabBar::tab { background: transparent; color: @mutedText@; padding: @s3@px @s4@px; border: none; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text@; border-bottom: 2px solid @accent@; background: @panel@; }
QTabBar::tab:hover:!selected { color: @text@; background: @accentSoft@; }
QTabBar::tab:focus { color: @accent@; }
QDockWidget { color: @mutedText@; font-weight: 600; titlebar-close-icon: none; }
QDockWidget::title { background: @window@; padding: @s3@px @s3@px; border-bottom: 1px solid @border@; }
QHeaderView { background: @panel@; border: none; }
QHeaderView::section { background: @panel@; color: @mutedText@; border: none; border-bottom: 1px solid @border@; padding: @s2@px @s3@px; }
QTableView, QTreeView, QListView, QTextBrowser, QPlainTextEdit { background: @panel@; border: none; color: @text@; selection-background-color: @selection@; selection-color: @text@; outline: none; }
QTableView { gridline-color: @border@; }
QTableView::item, QTreeView::item, QListView::item { padding: @s1@px @s2@px; border: none; }
QTreeView::item:hover, QListView::item:hover { background: @accentSoft@; color: @text@; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: @selection@; color: @text@; }
QStatusBar { background: @window@; border-top: 1px solid @border@; color: @mutedText@; }
QStatusBar::item { border: none; }
QProgressBar { border: none; border-radius: @s1@px; background: @border@; max-height: @s2@px; min-height: @s2@px; }
QProgressBar::chunk { background: @accent@; border-radius: @s1@px; }
QScrollBar:vertical { background: transparent; width: @s4@px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: @s4@px; margin: 0; }
QScrollBar::handle { background: @strongBorder@; border-radius: @s1@px; margin: @s1@px; }
QScrollBar::handle:vertical { min-height: @s6@px; }
QScrollBar::handle:horizontal { min-width: @s6@px; }
QScrollBar::handle:hover { background: @mutedText@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: @border@; }
QFrame[card="true"] { background: @panel@; border: 1px solid @border@; border-radius: @s3@px; }
QLabel[muted="true"] { color: @mutedText@; }
QLabel[heading="true"] { font-weight: 600; }
QScrollArea, QScrollArea > QWidget > QWidget[page="true"] { background: @base@; border: none; }
QFrame[banner="info"] { background: @accentSoft@; border: none; border-bottom: 1px solid @border@; }
QFrame[banner="warning"] { background: @warningSoft@; border: none; border-bottom: 1px solid @border@; }
QFrame[banner="error"] { background: @dangerSoft@; border: none; border-bottom: 1px solid @border@; }
QFrame[banner="success"] { background: @successSoft@; border: none; border-bottom: 1px solid @border@; }
QFrame#commandPalette { background: @raised@; border: 1px solid @strongBorder@; border-radius: @s3@px; }
QFrame#commandPalette QListView { background: @raised@; }
QFrame#reviewBar, QFrame#findBar { background: @panel@; border: none; border-bottom: 1px solid @border@; }
)";

} // namespace

QString Theme::styleSheet(int fontHeight) const
{
    const auto size = [fontHeight](double factor) {
        return QString::number(std::max(1, qRound(fontHeight * factor)));
    };
    const QHash<QString, QString> values{
        {u"window"_s, window.name()},
        {u"panel"_s, panel.name()},
        {u"base"_s, base.name()},
        {u"raised"_s, raised.name()},
        {u"border"_s, border.name()},
        {u"strongBorder"_s, strongBorder.name()},
        {u"text"_s, text.name()},
        {u"mutedText"_s, mutedText.name()},
        {u"accent"_s, accent.name()},
        {u"onAccent"_s, onAccent.name()},
        {u"accentSoft"_s, accentSoft.name()},
        {u"selection"_s, selection.name()},
        {u"successSoft"_s, successSoft.name()},
        {u"warningSoft"_s, warningSoft.name()},
        {u"dangerSoft"_s, dangerSoft.name()},
        {u"disabled"_s, palette().color(QPalette::Disabled, QPalette::Text).name()},
        {u"s1"_s, size(0.12)},
        {u"s2"_s, size(0.25)},
        {u"s3"_s, size(0.45)},
        {u"s4"_s, size(0.75)},
        {u"s5"_s, size(1.6)},
        {u"s6"_s, size(2.0)},
    };
    QString result;
    bool isName = false;
    for (const QString &part : QString::fromLatin1(sheet).split(u'@')) {
        result += isName ? values.value(part) : part;
        isName = !isName;
    }
    return result;
}

} // namespace heddle
