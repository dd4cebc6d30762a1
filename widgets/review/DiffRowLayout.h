// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

namespace heddle {

/// Where the parts of a diff row lie. Pure arithmetic, so that painting, hit tests and unit tests agree.
/// Lengths in device-independent pixels.
struct DiffRowLayout {
    QRectF oldNumber, newNumber, sign, text;
    QRectF accept, reject, undo; ///< buttons of a hunk's head, at the right edge of the view

    struct Metrics {
        double characterWidth = 8.0;
        double buttonWidth = 70.0;
        int digits = 4; ///< of the longest line number
    };
    /// `row` is the whole row in view coordinates, `viewWidth` the visible width, `scrolled` how far the
    /// view is scrolled to the right: buttons and numbers stay in view, the text moves.
    static DiffRowLayout of(const QRectF &row, double viewWidth, double scrolled, const Metrics &metrics);
    /// How wide a row must be for `characters` of text.
    static double rowWidth(int characters, const Metrics &metrics);
};

} // namespace heddle
