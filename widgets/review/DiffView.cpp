// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/DiffView.h"

#include "widgets/editor/EditorStyle.h"
#include "widgets/review/DiffDelegate.h"
#include "widgets/review/DiffModel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>

namespace heddle {

DiffView::DiffView(DiffModel *model, QWidget *parent)
    : QListView(parent), m_diff(model), m_delegate(new DiffDelegate(model, this, this))
{
    setModel(model);
    setItemDelegate(m_delegate);
    setAccessibleName(tr("Changes of the proposal"));
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setUniformItemSizes(true);
    setAutoScroll(false);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    // Numbers and buttons stay in view, so a horizontal scroll repaints everything.
    connect(horizontalScrollBar(), &QScrollBar::valueChanged, viewport(), qOverload<>(&QWidget::update));
}

void DiffView::setDecidable(bool isDecidable)
{
    m_delegate->setDecidable(isDecidable);
    viewport()->update();
}

int DiffView::currentHunk() const
{
    return m_diff->hunkOfRow(currentIndex().isValid() ? currentIndex().row() : 0);
}

int DiffView::currentLine() const
{
    const ReviewLine *line = m_diff->line(currentIndex().row());
    return line == nullptr ? 0 : line->newNumber > 0 ? line->newNumber : line->oldNumber;
}

void DiffView::goToHunk(int number)
{
    const QModelIndex index = m_diff->index(m_diff->rowOfHunk(number));
    setCurrentIndex(index);
    const QRect rect = visualRect(index);
    if (!viewport()->rect().contains(rect))
        scrollTo(index, QAbstractItemView::PositionAtTop);
}

void DiffView::keyPressEvent(QKeyEvent *event)
{
    const int hunk = currentHunk();
    const bool isPlain = event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    if (event->key() == Qt::Key_Escape && isPlain) {
        emit leaveRequested();
        return;
    }
    if (!isPlain || hunk < 0) {
        QListView::keyPressEvent(event);
        return;
    }
    const bool isForward = event->key() == Qt::Key_J;
    switch (event->key()) {
    case Qt::Key_J:
    case Qt::Key_K:
        if (const auto next = m_diff->nextUndecided(hunk, isForward); next.has_value())
            goToHunk(*next);
        return;
    default: break;
    }
    if (!m_delegate->isDecidable()) {
        if (event->key() == Qt::Key_U)
            emit undoLast();
        else
            QListView::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Y: emit acceptHunk(hunk); return;
    case Qt::Key_N: emit rejectHunk(hunk); return;
    case Qt::Key_U: emit undoLast(); return;
    case Qt::Key_C: emit commentHunk(hunk); return;
    case Qt::Key_A: emit acceptAll(); return;
    case Qt::Key_Return:
    case Qt::Key_Enter: emit editRequested(); return;
    default: QListView::keyPressEvent(event);
    }
}

void DiffView::mouseReleaseEvent(QMouseEvent *event)
{
    QListView::mouseReleaseEvent(event);
    const QModelIndex index = indexAt(event->position().toPoint());
    if (event->button() != Qt::LeftButton || !index.isValid() || !m_delegate->isDecidable()
        || index.data(DiffModel::KindRole).toInt() != static_cast<int>(DiffModel::RowKind::HunkHead))
        return;
    const DiffRowLayout layout = DiffRowLayout::of(QRectF(visualRect(index)), viewport()->width(),
                                                   horizontalScrollBar()->value(), m_delegate->metrics());
    const int hunk = index.data(DiffModel::HunkRole).toInt();
    const bool isDecided = m_diff->mark(hunk) != HunkMark::Undecided;
    if (isDecided && layout.undo.contains(event->position()))
        emit undoHunk(hunk);
    else if (!isDecided && layout.accept.contains(event->position()))
        emit acceptHunk(hunk);
    else if (!isDecided && layout.reject.contains(event->position()))
        emit rejectHunk(hunk);
}

void DiffView::changeEvent(QEvent *event)
{
    QListView::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        m_delegate->setFont(codeFont());
        scheduleDelayedItemsLayout();
    }
}

} // namespace heddle
