// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Badge.h"

#include "widgets/common/Theme.h"

#include <QPainter>

namespace heddle {

Badge::Badge(std::optional<Status> status, const QString &text, QWidget *parent)
    : QWidget(parent), m_status(status)
{
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    set(status, text);
}

void Badge::set(std::optional<Status> status, const QString &text)
{
    m_status = status;
    m_text = text;
    setAccessibleName(text);
    updateGeometry();
    update();
}

QSize Badge::sizeHint() const
{
    const int height = fontMetrics().height();
    return {fontMetrics().horizontalAdvance(m_text) + (m_status ? height * 9 / 4 : height * 5 / 4),
            height * 3 / 2};
}

void Badge::paintEvent(QPaintEvent *)
{
    const Theme &theme = Theme::of(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const qreal text = fontMetrics().height();
    const QRectF pill = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    const QColor fill = m_status == Status::Passed ? theme.successSoft
        : m_status == Status::Failed               ? theme.dangerSoft
        : m_status == Status::Warning              ? theme.warningSoft
        : m_status == Status::NotRun || !m_status  ? theme.window
                                                   : theme.accentSoft;
    painter.setPen(theme.border);
    painter.setBrush(fill);
    painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2);
    const qreal side = text * 0.85;
    if (m_status)
        StatusMark::paint(painter, QRectF(text * 0.5, (height() - side) / 2, side, side), *m_status,
                          palette());
    painter.setPen(theme.text);
    painter.drawText(pill.adjusted(text * (m_status ? 1.55 : 0.6), 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     m_text);
}

} // namespace heddle
