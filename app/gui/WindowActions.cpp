// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/WindowActions.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

class Words {
    Q_DECLARE_TR_FUNCTIONS(heddle::WindowActions)
};

} // namespace

WindowActions::WindowActions(QMainWindow *window) : registry(new ActionRegistry(window))
{
    addAll();
    addMenus(window);
    addBars(window);
    // Actions work wherever the focus is, in floating docks too.
    for (QAction *action : registry->actions())
        window->addAction(action);
}

void WindowActions::addAll()
{
    const auto add = [this](const char *id, const QString &text, const char *keys = "", const char *icon = "",
                            const QString &tip = {}) {
        return registry->add(QString::fromLatin1(id), text, QKeySequence(QString::fromLatin1(keys)),
                             QString::fromLatin1(icon), tip);
    };
    openFile = add("file.open", Words::tr("Open &file…"), "Ctrl+O", "file");
    openFolder = add("file.openFolder", Words::tr("Open f&older…"), "Ctrl+Shift+O", "folder");
    save = add("file.save", Words::tr("&Save"), "Ctrl+S");
    saveAll = add("file.saveAll", Words::tr("Save &all"), "Ctrl+Shift+S");
    closeTab = add("file.closeTab", Words::tr("&Close tab"), "Ctrl+W");
    quit = add("file.quit", Words::tr("&Quit"), "Ctrl+Q");

    undo = add("edit.undo", Words::tr("&Undo typing"), "Ctrl+Z");
    redo = add("edit.redo", Words::tr("&Redo typing"), "Ctrl+Shift+Z");
    cut = add("edit.cut", Words::tr("Cu&t"), "Ctrl+X");
    copy = add("edit.copy", Words::tr("&Copy"), "Ctrl+C");
    paste = add("edit.paste", Words::tr("&Paste"), "Ctrl+V");
    find = add("edit.find", Words::tr("&Find"), "Ctrl+F");
    replace = add("edit.replace", Words::tr("R&eplace"), "Ctrl+H");
    goToLine = add("edit.goToLine", Words::tr("&Go to line"), "Ctrl+G");

    lint = add("task.lint", Words::tr("&Lint"), "Ctrl+L", "lint",
               Words::tr("Look for defects of the task: constant output, blind inputs, wasteful reference"));
    baseline = add("task.baseline", Words::tr("&Baseline"), "Ctrl+B", "baseline",
                   Words::tr("Measure eager and compiled PyTorch, the operators and the roof"));
    optimise = add("task.optimise", Words::tr("&Optimise"), "Ctrl+R", "optimize",
                   Words::tr("Let the built-in optimiser propose faster kernels"));
    judge = add("task.judge", Words::tr("&Judge"), "Ctrl+J", "judge",
                Words::tr("Judge the candidate as it is on screen, unsaved text included"));
    exportCode = add("task.export", Words::tr("&Export…"), "Ctrl+E", "export",
                     Words::tr("Write the newest clean candidate as plain PyTorch code"));
    cancel = add("task.cancel", Words::tr("&Cancel running jobs"), "Ctrl+.", "cancel");

    acceptHunk = add("review.acceptHunk", Words::tr("&Accept hunk"), "", "check");
    rejectHunk = add("review.rejectHunk", Words::tr("&Reject hunk…"), "", "close");
    acceptAll = add("review.acceptAll", Words::tr("Accept a&ll"), "", "check");
    rejectAll = add("review.rejectAll", Words::tr("Re&ject all…"), "", "close");
    undoDecision = add("review.undo", Words::tr("&Undo decision"), "Ctrl+Alt+Z", "undo");
    comment = add("review.comment", Words::tr("&Comment…"), "", "comment");
    evidence = add("review.evidence", Words::tr("Open &evidence"), "Ctrl+Shift+E", "report");

    palette = add("view.palette", Words::tr("Command &palette"), "Ctrl+Shift+P", "palette");
    checkUp = add("view.checkUp", Words::tr("&Check-up of this machine"), "Ctrl+Alt+H", "",
                  Words::tr("Compiler, PyTorch, sandbox and devices: what is here and what is missing"));
    workMode = add("view.work", Words::tr("&Work"), "Ctrl+1", "judge");
    workMode->setCheckable(true);
    workMode->setChecked(true);
    focusReview = add("view.focus", Words::tr("&Focus review"), "F11");
    focusReview->setCheckable(true);
    themeSystem = add("view.theme.system", Words::tr("Theme: &System"));
    themeLight = add("view.theme.light", Words::tr("Theme: &Light"));
    themeDark = add("view.theme.dark", Words::tr("Theme: &Dark"));
    auto *themes = new QActionGroup(registry);
    for (QAction *theme : {themeSystem, themeLight, themeDark}) {
        theme->setCheckable(true);
        themes->addAction(theme);
    }
    zoomIn = add("view.zoomIn", Words::tr("Zoom &in"), "Ctrl++");
    zoomOut = add("view.zoomOut", Words::tr("Zoom &out"), "Ctrl+-");
    zoomReset = add("view.zoomReset", Words::tr("&Reset zoom"), "Ctrl+0");
}

void WindowActions::addMenus(QMainWindow *window)
{
    QMenuBar *bar = window->menuBar();
    bar->setAccessibleName(Words::tr("Main menu"));
    QMenu *file = bar->addMenu(Words::tr("&File"));
    file->addActions({openFile, openFolder});
    file->addSeparator();
    file->addActions({save, saveAll, closeTab});
    file->addSeparator();
    file->addAction(quit);
    QMenu *edit = bar->addMenu(Words::tr("&Edit"));
    edit->addActions({undo, redo});
    edit->addSeparator();
    edit->addActions({cut, copy, paste});
    edit->addSeparator();
    edit->addActions({find, replace, goToLine});
    QMenu *task = bar->addMenu(Words::tr("&Task"));
    task->addActions({lint, baseline, optimise, judge});
    task->addSeparator();
    task->addActions({exportCode, cancel});
    QMenu *review = bar->addMenu(Words::tr("&Review"));
    review->addActions({acceptHunk, rejectHunk, acceptAll, rejectAll});
    review->addSeparator();
    review->addActions({undoDecision, comment, evidence});
    QMenu *view = bar->addMenu(Words::tr("&View"));
    view->addActions({palette, focusReview});
    view->addSeparator();
    view->addActions({themeSystem, themeLight, themeDark});
    view->addSeparator();
    view->addActions({zoomIn, zoomOut, zoomReset});
    view->addSeparator();
    view->addAction(checkUp);
}

void WindowActions::addBars(QMainWindow *window)
{
    const int icon = window->fontMetrics().height();
    auto *modes = new QToolBar(Words::tr("Layouts"), window);
    modes->setObjectName(u"bar.modes"_s);
    modes->setAccessibleName(Words::tr("Layouts"));
    modes->setMovable(false);
    modes->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    modes->setIconSize(QSize(icon, icon) * 1.4);
    modes->addAction(workMode);
    window->addToolBar(Qt::LeftToolBarArea, modes);

    auto *tasks = new QToolBar(Words::tr("Task"), window);
    tasks->setObjectName(u"bar.task"_s);
    tasks->setAccessibleName(Words::tr("Task"));
    tasks->setMovable(false);
    tasks->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    tasks->setIconSize(QSize(icon, icon));
    tasks->addActions({lint, baseline, optimise, judge});
    tasks->addSeparator();
    tasks->addAction(exportCode);
    auto *space = new QWidget(tasks);
    space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    tasks->addWidget(space);
    tasks->addAction(palette);
    window->addToolBar(Qt::TopToolBarArea, tasks);
    for (QToolBar *made : {modes, tasks}) {
        for (QAction *action : made->actions()) {
            auto *button = qobject_cast<QToolButton *>(made->widgetForAction(action));
            if (button != nullptr)
                button->setAccessibleName(QString(action->text()).remove(u'&').remove(u'…'));
        }
    }
}

} // namespace heddle
