// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"

#include <QWidget>

#include <vector>

class QLabel;

namespace heddle {

class DataTable;

/// The measurements of the task in view: its baselines, then each judged candidate with verdict, time and
/// speedups. Each row leads to the event that measured it. GUI thread.
class ResultsView : public QWidget {
    Q_OBJECT

public:
    explicit ResultsView(QWidget *parent = nullptr);

    /// The `baseline_measured` and `judged` events of the task, oldest first. A later verdict of the same
    /// candidate and stage replaces an earlier one.
    void setEvents(const std::vector<const Event *> &events);
    int rowCount() const;

signals:
    void eventActivated(std::int64_t event);

private:
    DataTable *m_table;
    QLabel *m_empty;
};

} // namespace heddle
