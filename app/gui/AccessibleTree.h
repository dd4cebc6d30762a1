// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Result.h"
#include "core/json/Json.h"

#include <QString>
#include <QStringList>

class QWidget;

namespace heddle {

/// The window as a screen reader sees it: controls by role and accessible name. GUI thread.
namespace accessibleTree {

/// {"role", "name", "value"?, "focusable", "enabled", "children": []} of what is visible.
Json describe(QWidget *window);
/// Presses a button, menu action, check box, tab or row by its name. `role` empty: any. The first visible
/// and enabled one counts. Errors: NotFound names what is there with a similar name.
Result<void> press(QWidget *window, const QString &name, const QString &role = {});
/// Puts text into an editable control. Errors: NotFound, InvalidInput where it can't be edited.
Result<void> setText(QWidget *window, const QString &name, const QString &text);
/// All texts that are visible, in the order of the tree: names, values, cells, lines of text views.
QStringList texts(QWidget *window);
/// "role: path" of every visible focusable control without a name.
QStringList unnamed(QWidget *window);

} // namespace accessibleTree

} // namespace heddle
