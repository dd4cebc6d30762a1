// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/Status.h"
#include "widgets/tasks/TaskScan.h"

#include <QHash>
#include <QTreeView>

#include <vector>

class QStandardItem;
class QStandardItemModel;

namespace heddle {

/// How a task stands, beside its name.
struct TaskBadge {
    Status status = Status::NotRun;
    QString text; ///< "clean, 1.84× ± 0.03 vs compile"; empty: nothing known
    bool operator==(const TaskBadge &) const = default;
};

/// The tasks of the workspace with the files of their heads below them. GUI thread.
class TaskTree : public QTreeView {
    Q_OBJECT

public:
    explicit TaskTree(QWidget *parent = nullptr);

    /// Keeps selection and unfolded rows of tasks that are still there.
    void setTasks(const std::vector<TaskFile> &tasks);
    void setBadge(const QString &taskPath, const TaskBadge &badge);
    /// The task that the current row belongs to, or the only one; empty: none.
    QString currentTask() const;
    void selectTask(const QString &taskPath);
    int taskCount() const;
    QAbstractItemModel *tasks() const;

signals:
    void fileActivated(const QString &path); ///< relative to the workspace
    void taskSelected(const QString &taskPath);

private:
    QStandardItem *itemOf(const QString &taskPath) const;

    QStandardItemModel *m_model;
    QHash<QString, TaskBadge> m_badges;
};

} // namespace heddle
