// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/TaskTree.h"

#include "widgets/common/Icons.h"
#include "widgets/common/Text.h"

#include <QHeaderView>
#include <QStandardItemModel>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr int pathRole = Qt::UserRole + 1;

QString nameOf(const QString &path) { return path.section(u'/', -1); }

void showBadge(QStandardItem &item, const TaskBadge &badge)
{
    item.setIcon(StatusMark::icon(badge.status));
    const QString path = item.data(pathRole).toString();
    item.setToolTip(badge.text.isEmpty() ? path : u"%1\n%2"_s.arg(path, badge.text));
    item.setData(badge.text.isEmpty() ? path : u"%1, %2"_s.arg(path, badge.text), Qt::AccessibleTextRole);
}

} // namespace

TaskTree::TaskTree(QWidget *parent) : QTreeView(parent), m_model(new QStandardItemModel(this))
{
    setAccessibleName(tr("Tasks"));
    setHeaderHidden(true);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setUniformRowHeights(true);
    setFrameShape(QFrame::NoFrame);
    setModel(m_model);
    setIndentation(fontMetrics().height());
    connect(this, &QTreeView::activated, this,
            [this](const QModelIndex &index) { emit fileActivated(index.data(pathRole).toString()); });
    connect(selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex &current) {
        if (current.isValid())
            emit taskSelected(currentTask());
    });
}

QStandardItem *TaskTree::itemOf(const QString &taskPath) const
{
    for (int row = 0; row < m_model->rowCount(); ++row) {
        if (m_model->item(row)->data(pathRole).toString() == taskPath)
            return m_model->item(row);
    }
    return nullptr;
}

void TaskTree::setTasks(const std::vector<TaskFile> &tasks)
{
    QStringList wanted;
    for (const TaskFile &task : tasks)
        wanted << toText(task.path);
    for (int row = m_model->rowCount() - 1; row >= 0; --row) {
        if (!wanted.contains(m_model->item(row)->data(pathRole).toString()))
            m_model->removeRow(row);
    }
    for (std::size_t at = 0; at < tasks.size(); ++at) {
        const QString path = toText(tasks[at].path);
        QStandardItem *item = itemOf(path);
        if (item == nullptr) {
            item = new QStandardItem(nameOf(path));
            item->setData(path, pathRole);
            showBadge(*item, m_badges.value(path));
            m_model->insertRow(static_cast<int>(at), item);
        }
        QStringList files;
        for (const std::string &file : tasks[at].headFiles)
            files << toText(file);
        QStringList shown;
        for (int child = 0; child < item->rowCount(); ++child)
            shown << item->child(child)->data(pathRole).toString();
        if (shown == files)
            continue;
        item->removeRows(0, item->rowCount());
        for (const QString &file : std::as_const(files)) {
            auto *child = new QStandardItem(themedIcon(u"file"_s), nameOf(file));
            child->setData(file, pathRole);
            child->setToolTip(file);
            item->appendRow(child);
        }
        expand(item->index());
    }
}

void TaskTree::setBadge(const QString &taskPath, const TaskBadge &badge)
{
    if (m_badges.value(taskPath) == badge)
        return; // news come ten times a second
    m_badges.insert(taskPath, badge);
    if (QStandardItem *item = itemOf(taskPath); item != nullptr)
        showBadge(*item, badge);
}

QString TaskTree::currentTask() const
{
    QModelIndex index = currentIndex();
    if (index.parent().isValid())
        index = index.parent();
    if (index.isValid())
        return index.data(pathRole).toString();
    return m_model->rowCount() == 1 ? m_model->item(0)->data(pathRole).toString() : QString();
}

void TaskTree::selectTask(const QString &taskPath)
{
    QStandardItem *item = itemOf(taskPath);
    if (item != nullptr && currentTask() != taskPath)
        setCurrentIndex(item->index());
}

int TaskTree::taskCount() const { return m_model->rowCount(); }

QAbstractItemModel *TaskTree::tasks() const { return m_model; }

} // namespace heddle
