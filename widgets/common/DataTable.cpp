// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/DataTable.h"

#include "widgets/common/Theme.h"

#include <QHeaderView>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>

namespace heddle {

namespace {

/// Draws the bar of a cell behind nothing: a track, the value, and whiskers at the interval's ends.
class BarDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        const QVariant value = index.data(RowsModel::BarRole);
        if (!value.isValid())
            return;
        const Bar bar = value.value<Bar>();
        const Theme &theme = Theme::of(option.palette);
        const qreal height = option.fontMetrics.height() * 0.5;
        QRectF track = QRectF(option.rect).adjusted(height, 0, -height, 0);
        track = QRectF(track.left(), track.center().y() - height / 2, track.width(), height);
        const auto x = [&track](double share) {
            return track.left() + track.width() * std::clamp(share, 0.0, 1.0);
        };
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme.border);
        painter->drawRoundedRect(track, height / 4, height / 4);
        painter->setBrush(bar.isHighlighted ? theme.accent : theme.strongBorder);
        painter->drawRoundedRect(QRectF(track.left(), track.top(), x(bar.value) - track.left(), height),
                                 height / 4, height / 4);
        QPen pen(theme.text, 1.2);
        pen.setCosmetic(true);
        painter->setPen(pen);
        const qreal middle = track.center().y();
        painter->drawLine(QPointF(x(bar.low), middle), QPointF(x(bar.high), middle));
        for (const double end : {bar.low, bar.high})
            painter->drawLine(QPointF(x(end), middle - height * 0.35),
                              QPointF(x(end), middle + height * 0.35));
        painter->restore();
    }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(RowsModel::MutedRole).toBool()) {
            const QColor muted = Theme::of(option->palette).mutedText;
            option->palette.setColor(QPalette::Text, muted);
            option->palette.setColor(QPalette::HighlightedText, muted);
        }
    }
};

/// A column is as wide as what is on screen and so many rows more need; all of a thousand rows would be laid out
/// anew with each change of style.
constexpr int rowsMeasured = 30;

} // namespace

DataTable::DataTable(const QString &accessibleName, QStringList headers, QWidget *parent)
    : QTableView(parent),
      m_model(new RowsModel(std::move(headers), this)),
      m_sorted(new QSortFilterProxyModel(this))
{
    setAccessibleName(accessibleName);
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(RowsModel::SortRole);
    setModel(m_sorted);
    setItemDelegate(new BarDelegate(this));
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setTabKeyNavigation(false);
    setShowGrid(false);
    setWordWrap(false);
    setSortingEnabled(true);
    setFrameShape(QFrame::NoFrame);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() * 3 / 2 + 2);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setSortIndicatorShown(true);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    horizontalHeader()->setResizeContentsPrecision(rowsMeasured);
    horizontalHeader()->setFocusPolicy(Qt::NoFocus);
    connect(this, &QTableView::activated, this, [this](const QModelIndex &index) {
        emit keyActivated(index.data(RowsModel::KeyRole).toString());
    });
    connect(selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &current) {
                if (current.isValid())
                    emit keySelected(current.data(RowsModel::KeyRole).toString());
            });
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(m_sorted, signal, this, &DataTable::fit);
}

void DataTable::setStretchColumn(int column)
{
    horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
}

void DataTable::setFitsContent(bool fits)
{
    m_fitsContent = fits;
    setHorizontalScrollBarPolicy(fits ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setVerticalScrollBarPolicy(fits ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setSizePolicy(QSizePolicy::Expanding, fits ? QSizePolicy::Fixed : QSizePolicy::Expanding);
    fit();
}

void DataTable::setWrapsText(bool wraps)
{
    setWordWrap(wraps);
    verticalHeader()->setSectionResizeMode(wraps ? QHeaderView::ResizeToContents : QHeaderView::Interactive);
    if (wraps)
        connect(verticalHeader(), &QHeaderView::sectionResized, this, &DataTable::fit, Qt::UniqueConnection);
}

void DataTable::showEvent(QShowEvent *event)
{
    // Only now are the header's font and margins those of the style sheet.
    QTableView::showEvent(event);
    fit();
}

void DataTable::fit()
{
    if (m_fitsContent)
        setFixedHeight(sizeHint().height());
}

QSize DataTable::sizeHint() const
{
    if (!m_fitsContent)
        return QTableView::sizeHint();
    const int rows = m_model->rowCount();
    return {fontMetrics().averageCharWidth() * 40,
            std::max(horizontalHeader()->sizeHint().height(), horizontalHeader()->height())
                + std::max(verticalHeader()->length(), rows * verticalHeader()->defaultSectionSize()) + 2};
}

QSize DataTable::minimumSizeHint() const
{
    return m_fitsContent ? QSize(0, sizeHint().height()) : QTableView::minimumSizeHint();
}

void DataTable::selectKey(const QString &key)
{
    if (currentKey() == key)
        return;
    const int row = m_model->rowOf(key);
    if (row >= 0)
        setCurrentIndex(m_sorted->mapFromSource(m_model->index(row, 0)));
}

QString DataTable::currentKey() const { return currentIndex().data(RowsModel::KeyRole).toString(); }

} // namespace heddle
