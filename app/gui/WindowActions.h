// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/ActionRegistry.h"

#include <QAction>

class QMainWindow;

namespace heddle {

/// Every action of the window by name, with its menu and tool bar. What an action does is connected by the
/// window. Owned by the window; GUI thread.
struct WindowActions {
    explicit WindowActions(QMainWindow *window);

    ActionRegistry *registry;
    QAction *openFile, *openFolder, *save, *saveAll, *closeTab, *quit;
    QAction *undo, *redo, *cut, *copy, *paste, *find, *replace, *goToLine;
    QAction *lint, *baseline, *optimise, *judge, *exportCode, *cancel;
    QAction *acceptHunk, *rejectHunk, *acceptAll, *rejectAll, *undoDecision, *comment, *evidence;
    QAction *palette, *focusReview, *themeSystem, *themeLight, *themeDark, *zoomIn, *zoomOut, *zoomReset,
        *workMode, *checkUp;

    /// Those that need an open, trusted workspace.
    QList<QAction *> runActions() const { return {lint, baseline, optimise, judge, exportCode}; }
    QList<QAction *> reviewActions() const
    {
        return {acceptHunk, rejectHunk, acceptAll, rejectAll, undoDecision, comment, evidence};
    }
    QList<QAction *> editActions() const
    {
        return {undo, redo, cut, copy, paste, find, replace, goToLine, save};
    }

private:
    void addAll();
    void addMenus(QMainWindow *window);
    void addBars(QMainWindow *window);
};

} // namespace heddle
