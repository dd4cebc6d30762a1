// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"

#include <QPlainTextEdit>

#include <vector>

namespace heddle {

/// Every event of the workspace as it is in the database, one line each, newest last. GUI thread.
class LogView : public QPlainTextEdit {
    Q_OBJECT

public:
    explicit LogView(QWidget *parent = nullptr);

    void appendEvents(const std::vector<Event> &events);
};

} // namespace heddle
