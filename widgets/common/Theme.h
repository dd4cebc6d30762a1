// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

class QWidget;

namespace heddle {

/// The colours of one appearance; every painter and style sheet takes them from here.
struct Theme {
    bool isDark = false;
    QColor window, panel, base, raised, border, strongBorder;
    QColor text, mutedText, accent, onAccent, accentSoft, selection;
    QColor success, warning, danger, onStatus;
    QColor successSoft, warningSoft, dangerSoft;
    QColor diffAdded, diffAddedStrong, diffRemoved, diffRemovedStrong, diffHunk;
    QColor keyword, string, comment, number, function, preprocessor, decorator, operatorSign;
    QColor currentLine, lineNumber, searchHit;

    static const Theme &light();
    static const Theme &dark();
    /// The theme that a palette belongs to: dark when the window is darker than its text.
    static const Theme &of(const QPalette &palette);

    QPalette palette() const;
    /// One sheet for a window, sizes in em-like units of the font's height in pixels.
    QString styleSheet(int fontHeight) const;
};

/// What the person chose; System follows the palette that the desktop gives.
enum class Appearance { System, Light, Dark };

/// Applies Fusion and the palette to the application, and the style sheet to the window with all that belongs to
/// it, dialogs and tool tips too. `system` is the palette at start. GUI thread only.
void applyAppearance(Appearance appearance, const QPalette &system, QWidget &window);

/// Contrast of two opaque colours, 1 to 21 (WCAG 2.1, relative luminance).
double contrastRatio(const QColor &first, const QColor &second);

} // namespace heddle
