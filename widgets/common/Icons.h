// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QString>

namespace heddle {

/// An icon of resources/icons by name ("judge"): one colour, taken from the application's palette each
/// time it is painted, sharp at every scale. GUI thread only.
QIcon themedIcon(const QString &name);

} // namespace heddle
