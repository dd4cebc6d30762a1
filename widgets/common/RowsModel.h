// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/Status.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace heddle {

/// A measured amount drawn as a bar with its interval, all as shares of the longest bar.
struct Bar {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    bool isHighlighted = false;
    bool operator==(const Bar &) const = default;
};

struct Cell {
    QString text;
    QVariant sort = {}; ///< what to sort by; empty: the text
    std::optional<Status> status = {};
    bool isNumber = false; ///< aligned to the right
    bool isStrong = false;
    bool isMuted = false;
    QString tip = {};
    std::optional<Bar> bar = {};
    bool operator==(const Cell &) const = default;
};

struct Row {
    QString key; ///< unique and stable, so that selection survives an update
    std::vector<Cell> cells;
    bool operator==(const Row &) const = default;
};

/// A flat table of formatted rows. `setRows` changes only what differs. GUI thread.
class RowsModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Role { SortRole = Qt::UserRole + 1, KeyRole, BarRole, MutedRole };

    RowsModel(QStringList headers, QObject *parent);

    void setRows(std::vector<Row> rows);
    const std::vector<Row> &rows() const { return m_rows; }
    int rowOf(const QString &key) const; ///< -1 when absent

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QStringList m_headers;
    std::vector<Row> m_rows;
};

} // namespace heddle

Q_DECLARE_METATYPE(heddle::Bar)
