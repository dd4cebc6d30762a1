// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/DiffDelegate.h"

#include "widgets/common/Status.h"
#include "widgets/common/Theme.h"
#include "widgets/editor/EditorStyle.h"
#include "widgets/review/DiffModel.h"

#include <QAbstractScrollArea>
#include <QFontMetricsF>
#include <QPainter>
#include <QScrollBar>

using namespace Qt::StringLiterals;

namespace heddle {

DiffDelegate::DiffDelegate(const DiffModel *model, const QAbstractScrollArea *view, QObject *parent)
    : QStyledItemDelegate(parent), m_model(model), m_view(view), m_font(codeFont())
{
}

void DiffDelegate::setFont(const QFont &font) { m_font = font; }

DiffRowLayout::Metrics DiffDelegate::metrics() const
{
    const QFontMetricsF code(m_font);
    const QFontMetricsF words(m_view->font());
    const double accept = words.horizontalAdvance(tr("Accept"));
    const double reject = words.horizontalAdvance(tr("Reject"));
    return {code.horizontalAdvance(u'0'), std::max(accept, reject) + 2.0 * words.height(), 4};
}

void DiffDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                         const QModelIndex &index) const
{
    const Theme &theme = Theme::of(option.palette);
    const double scrolled = m_view->horizontalScrollBar()->value();
    const QRectF row(option.rect);
    const DiffRowLayout layout = DiffRowLayout::of(row, m_view->viewport()->width(), scrolled, metrics());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const auto kind = static_cast<DiffModel::RowKind>(index.data(DiffModel::KindRole).toInt());
    if (kind == DiffModel::RowKind::Line)
        paintLine(*painter, index, layout, row, theme);
    else
        paintHead(*painter, option, index, layout, theme);
    if ((option.state & QStyle::State_Selected) != 0) {
        painter->fillRect(QRectF(row.left() + scrolled, row.top(), 3.0, row.height()), theme.accent);
    }
    painter->restore();
}

void DiffDelegate::paintHead(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index,
                             const DiffRowLayout &layout, const Theme &theme) const
{
    const QRectF row(option.rect);
    const auto kind = static_cast<DiffModel::RowKind>(index.data(DiffModel::KindRole).toInt());
    const double space = layout.oldNumber.width() / 4.0;
    QRectF text(layout.oldNumber.left() + space, row.top(),
                layout.accept.left() - layout.oldNumber.left() - 2 * space, row.height());
    QFont font = m_view->font();
    if (kind == DiffModel::RowKind::File) {
        painter.fillRect(row, theme.panel);
        font.setWeight(QFont::DemiBold);
        painter.setFont(font);
        painter.setPen(theme.text);
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, index.data().toString());
        return;
    }
    painter.fillRect(row, theme.diffHunk);
    const auto mark = static_cast<HunkMark>(index.data(DiffModel::MarkRole).toInt());
    if (mark != HunkMark::Undecided) {
        const double side = row.height() * 0.6;
        StatusMark::paint(painter, QRectF(text.left(), row.center().y() - side / 2, side, side),
                          mark == HunkMark::Accepted ? Status::Passed : Status::Failed, option.palette);
        text.setLeft(text.left() + side + space);
    }
    painter.setFont(font);
    painter.setPen(theme.mutedText);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, index.data().toString());
    if (!m_isDecidable)
        return;
    if (mark == HunkMark::Undecided) {
        paintButton(painter, layout.accept, tr("Accept"), theme);
        paintButton(painter, layout.reject, tr("Reject"), theme);
    } else {
        paintButton(painter, layout.undo, tr("Undo"), theme);
    }
}

void DiffDelegate::paintLine(QPainter &painter, const QModelIndex &index, const DiffRowLayout &layout,
                             const QRectF &row, const Theme &theme) const
{
    const ReviewLine *line = m_model->line(index.row());
    if (line == nullptr)
        return;
    const bool isAdded = line->kind == ReviewLine::Kind::Added;
    const bool isRemoved = line->kind == ReviewLine::Kind::Removed;
    const QColor paper = isAdded ? theme.diffAdded : isRemoved ? theme.diffRemoved : theme.base;
    painter.fillRect(row, paper);
    painter.setFont(m_font);
    const double character = QFontMetricsF(m_font).horizontalAdvance(u'0');
    const QString &text = line->text;
    const QFontMetricsF metrics(m_font);
    for (const auto &[start, length] : line->changed) {
        const double left = layout.text.left() + metrics.horizontalAdvance(text.left(start));
        const double width = metrics.horizontalAdvance(text.mid(start, length));
        painter.fillRect(QRectF(left, row.top(), width, row.height()),
                         isAdded ? theme.diffAddedStrong : theme.diffRemovedStrong);
    }
    painter.setPen(theme.text);
    painter.drawText(layout.text, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, text);
    painter.setPen(isAdded ? theme.success : isRemoved ? theme.danger : theme.mutedText);
    painter.drawText(layout.sign, Qt::AlignVCenter | Qt::AlignLeft,
                     isAdded         ? u"+"_s
                         : isRemoved ? u"−"_s
                                     : QString());
    // The numbers stay in view when the text is scrolled, so they are painted over it.
    painter.fillRect(layout.oldNumber.united(layout.newNumber), paper);
    painter.setPen(theme.lineNumber);
    const auto number = [](int value) { return value > 0 ? QString::number(value) : QString(); };
    const auto flags = Qt::AlignVCenter | Qt::AlignRight;
    painter.drawText(layout.oldNumber.adjusted(0, 0, -character * 0.5, 0), flags, number(line->oldNumber));
    painter.drawText(layout.newNumber.adjusted(0, 0, -character * 0.5, 0), flags, number(line->newNumber));
}

void DiffDelegate::paintButton(QPainter &painter, const QRectF &rect, const QString &text,
                               const Theme &theme) const
{
    QPen border(theme.strongBorder, 1.0);
    border.setCosmetic(true);
    painter.setPen(border);
    painter.setBrush(theme.raised);
    painter.drawRoundedRect(rect, 4, 4);
    painter.setPen(theme.text);
    painter.setFont(m_view->font());
    painter.drawText(rect, Qt::AlignCenter, text);
}

QSize DiffDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &) const
{
    const double line = QFontMetricsF(m_font).height();
    return {static_cast<int>(DiffRowLayout::rowWidth(m_model->longestLine(), metrics())),
            static_cast<int>(std::max(line * 1.25, option.fontMetrics.height() * 1.45))};
}

} // namespace heddle
