// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/CommandPalette.h"

#include "widgets/common/ActionRegistry.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

CommandPalette::CommandPalette(const ActionRegistry *registry, QWidget *window)
    : QFrame(window),
      m_registry(registry),
      m_search(new QLineEdit(this)),
      m_list(new QListView(this)),
      m_model(new QStandardItemModel(this)),
      m_filter(new QSortFilterProxyModel(this))
{
    setObjectName(u"commandPalette"_s);
    setAccessibleName(tr("Command palette"));
    m_search->setPlaceholderText(tr("Type a command"));
    m_search->setAccessibleName(tr("Search commands"));
    m_search->setClearButtonEnabled(false);
    m_list->setAccessibleName(tr("Commands"));
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setIconSize(QSize(1, 1) * fontMetrics().height());
    m_list->setUniformItemSizes(true);
    m_filter->setSourceModel(m_model);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_list->setModel(m_filter);
    auto *column = new QVBoxLayout(this);
    const int space = fontMetrics().height() / 2;
    column->setContentsMargins(space, space, space, space);
    column->setSpacing(space);
    column->addWidget(m_search);
    column->addWidget(m_list);
    m_search->installEventFilter(this);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_filter->setFilterFixedString(text);
        m_list->setCurrentIndex(m_filter->index(0, 0));
    });
    connect(m_search, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(m_list, &QListView::clicked, this, &CommandPalette::runCurrent);
    hide();
}

void CommandPalette::popUp()
{
    refill();
    m_search->clear();
    const QWidget *window = parentWidget();
    const int width = std::min(fontMetrics().averageCharWidth() * 72, window->width() - 40);
    resize(width, std::min(fontMetrics().height() * 22, window->height() / 2));
    move((window->width() - width) / 2, fontMetrics().height() * 4);
    m_list->setCurrentIndex(m_filter->index(0, 0));
    show();
    raise();
    m_search->setFocus();
}

int CommandPalette::visibleRows() const { return m_filter->rowCount(); }

void CommandPalette::refill()
{
    m_model->clear();
    for (QAction *action : m_registry->actions()) {
        if (!action->isEnabled() || !action->isVisible())
            continue;
        QString label = QString(action->text()).remove(u'&');
        if (!action->shortcut().isEmpty())
            label = u"%1    %2"_s.arg(label, action->shortcut().toString(QKeySequence::NativeText));
        // An empty picture keeps the words of all rows in one column.
        QPixmap empty(m_list->iconSize());
        empty.fill(Qt::transparent);
        auto *item = new QStandardItem(action->icon().isNull() ? QIcon(empty) : action->icon(), label);
        item->setData(action->objectName(), Qt::UserRole);
        m_model->appendRow(item);
    }
}

void CommandPalette::runCurrent()
{
    const QModelIndex index = m_list->currentIndex();
    if (!index.isValid())
        return;
    const QPointer<QAction> action = m_registry->action(index.data(Qt::UserRole).toString());
    hide();
    if (action != nullptr && action->isEnabled())
        action->trigger();
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::FocusOut) {
        hide();
    } else if (event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Escape) {
            hide();
            parentWidget()->setFocus();
            return true;
        }
        if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
            const int step = key->key() == Qt::Key_Down ? 1 : -1;
            const QModelIndex next = m_filter->index(m_list->currentIndex().row() + step, 0);
            if (next.isValid())
                m_list->setCurrentIndex(next);
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace heddle
