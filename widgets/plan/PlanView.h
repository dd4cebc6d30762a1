// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QWidget>

class QLabel;

namespace heddle {

class DataTable;

/// The plan of a session: its items with state, boundary and the argument for each. GUI thread.
class PlanView : public QWidget {
    Q_OBJECT

public:
    explicit PlanView(QWidget *parent = nullptr);

    void clearPlan();
    /// From a `plan_written` event: replaces the plan.
    void setItems(const Json &items);
    /// From a `plan_item_changed` event.
    void changeItem(const std::string &id, const std::string &state, const std::string &note);
    int itemCount() const;

private:
    void refresh();
    void showDetail();

    Json m_items = Json::array();
    DataTable *m_table;
    QLabel *m_detail;
};

} // namespace heddle
