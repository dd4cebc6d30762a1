// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/RowsModel.h"

#include <QTableView>

class QSortFilterProxyModel;

namespace heddle {

/// A table over a RowsModel: rows are selected whole, columns sort by value, bars are drawn in cells that
/// have one, Tab leaves the table. GUI thread.
class DataTable : public QTableView {
    Q_OBJECT

public:
    DataTable(const QString &accessibleName, QStringList headers, QWidget *parent = nullptr);

    RowsModel *rows() const { return m_model; }
    /// The column that takes the rest of the width.
    void setStretchColumn(int column);
    /// Tall enough for all rows, without a scroll bar: for tables on a page.
    void setFitsContent(bool fits);
    /// Long texts take several lines instead of being cut off: for sentences that must be read whole.
    void setWrapsText(bool wraps);
    void selectKey(const QString &key);
    QString currentKey() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void keyActivated(const QString &key); ///< Enter or double click
    void keySelected(const QString &key);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void fit();

    RowsModel *m_model;
    QSortFilterProxyModel *m_sorted;
    bool m_fitsContent = false;
};

} // namespace heddle
