// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/DiffRowLayout.h"

#include <algorithm>

namespace heddle {

namespace {

double numberWidth(const DiffRowLayout::Metrics &metrics)
{
    return (std::max(3, metrics.digits) + 1.5) * metrics.characterWidth;
}

} // namespace

DiffRowLayout DiffRowLayout::of(const QRectF &row, double viewWidth, double scrolled, const Metrics &metrics)
{
    DiffRowLayout layout;
    const double width = numberWidth(metrics);
    const double left = row.left() + scrolled;
    layout.oldNumber = QRectF(left, row.top(), width, row.height());
    layout.newNumber = QRectF(left + width, row.top(), width, row.height());
    const double signLeft = row.left() + 2.0 * width + metrics.characterWidth;
    layout.sign = QRectF(signLeft, row.top(), 2.0 * metrics.characterWidth, row.height());
    layout.text = QRectF(layout.sign.right(), row.top(), std::max(0.0, row.right() - layout.sign.right()),
                         row.height());

    const double gap = metrics.characterWidth;
    const double height = row.height() - 4.0;
    const double right = left + viewWidth - gap;
    layout.reject = QRectF(right - metrics.buttonWidth, row.top() + 2.0, metrics.buttonWidth, height);
    layout.accept = layout.reject.translated(-(metrics.buttonWidth + gap), 0.0);
    layout.undo = layout.reject;
    return layout;
}

double DiffRowLayout::rowWidth(int characters, const Metrics &metrics)
{
    return 2.0 * numberWidth(metrics) + (characters + 5.0) * metrics.characterWidth;
}

} // namespace heddle
