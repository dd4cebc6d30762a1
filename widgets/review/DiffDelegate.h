// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/review/DiffRowLayout.h"

#include <QStyledItemDelegate>

class QAbstractScrollArea;

namespace heddle {

class DiffModel;
enum class HunkMark;
struct Theme;

/// Paints the rows of a diff; colours from the theme, places from DiffRowLayout. GUI thread.
class DiffDelegate : public QStyledItemDelegate {
    Q_OBJECT

public:
    DiffDelegate(const DiffModel *model, const QAbstractScrollArea *view, QObject *parent);

    /// Buttons are shown only while the proposal can be decided.
    void setDecidable(bool isDecidable) { m_isDecidable = isDecidable; }
    bool isDecidable() const { return m_isDecidable; }
    void setFont(const QFont &font);
    DiffRowLayout::Metrics metrics() const;

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    void paintHead(QPainter &painter, const QStyleOptionViewItem &option, const QModelIndex &index,
                   const DiffRowLayout &layout, const Theme &theme) const;
    void paintLine(QPainter &painter, const QModelIndex &index, const DiffRowLayout &layout,
                   const QRectF &row, const Theme &theme) const;
    void paintButton(QPainter &painter, const QRectF &rect, const QString &text, const Theme &theme) const;

    const DiffModel *m_model;
    const QAbstractScrollArea *m_view;
    QFont m_font;
    bool m_isDecidable = true;
};

} // namespace heddle
