// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/RowsModel.h"

#include <QFont>
#include <QSet>

namespace heddle {

RowsModel::RowsModel(QStringList headers, QObject *parent)
    : QAbstractTableModel(parent), m_headers(std::move(headers))
{
}

void RowsModel::setRows(std::vector<Row> rows)
{
    QSet<QString> wanted;
    for (const Row &row : rows)
        wanted.insert(row.key);
    for (int at = static_cast<int>(m_rows.size()) - 1; at >= 0; --at) {
        if (wanted.contains(m_rows[static_cast<std::size_t>(at)].key))
            continue;
        beginRemoveRows({}, at, at);
        m_rows.erase(m_rows.begin() + at);
        endRemoveRows();
    }
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const int row = static_cast<int>(at);
        const int old = rowOf(rows[at].key);
        if (old < 0) {
            beginInsertRows({}, row, row);
            m_rows.insert(m_rows.begin() + row, std::move(rows[at]));
            endInsertRows();
            continue;
        }
        if (old != row) {
            beginMoveRows({}, old, old, {}, row);
            Row moved = std::move(m_rows[static_cast<std::size_t>(old)]);
            m_rows.erase(m_rows.begin() + old);
            m_rows.insert(m_rows.begin() + row, std::move(moved));
            endMoveRows();
        }
        if (!(m_rows[at] == rows[at])) {
            m_rows[at] = std::move(rows[at]);
            emit dataChanged(index(row, 0), index(row, columnCount() - 1));
        }
    }
}

int RowsModel::rowOf(const QString &key) const
{
    for (std::size_t at = 0; at < m_rows.size(); ++at) {
        if (m_rows[at].key == key)
            return static_cast<int>(at);
    }
    return -1;
}

int RowsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RowsModel::columnCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_headers.size());
}

QVariant RowsModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row &row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == KeyRole)
        return row.key;
    const auto column = static_cast<std::size_t>(index.column());
    if (column >= row.cells.size())
        return {};
    const Cell &cell = row.cells[column];
    switch (role) {
    case Qt::DisplayRole: return cell.text;
    case SortRole: return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case Qt::ToolTipRole: return cell.tip.isEmpty() ? QVariant() : QVariant(cell.tip);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((cell.isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::DecorationRole:
        return cell.status ? QVariant::fromValue(StatusMark::icon(*cell.status)) : QVariant();
    case Qt::FontRole: {
        if (!cell.isStrong)
            return {};
        QFont font;
        font.setWeight(QFont::DemiBold);
        return font;
    }
    case BarRole: return cell.bar ? QVariant::fromValue(*cell.bar) : QVariant();
    case MutedRole: return cell.isMuted;
    case Qt::AccessibleTextRole:
        // A shape without a word beside it would be silent to a screen reader.
        return cell.status && cell.text.isEmpty() ? QVariant(StatusMark::word(*cell.status))
                                                  : QVariant(cell.text);
    default: return {};
    }
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= m_headers.size())
        return {};
    if (role == Qt::DisplayRole)
        return m_headers[section];
    if (role == Qt::TextAlignmentRole && !m_rows.empty()) {
        const auto column = static_cast<std::size_t>(section);
        const auto &cells = m_rows.front().cells;
        const bool isNumber = column < cells.size() && cells[column].isNumber;
        return QVariant::fromValue((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return role == Qt::TextAlignmentRole ? QVariant::fromValue(Qt::AlignLeft | Qt::AlignVCenter) : QVariant();
}

} // namespace heddle
