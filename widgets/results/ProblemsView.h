// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/editor/Diagnostic.h"

#include <QWidget>

#include <vector>

class QLabel;

namespace heddle {

class DataTable;

/// Compiler messages of the newest build, a line each; Enter goes to the place. GUI thread.
class ProblemsView : public QWidget {
    Q_OBJECT

public:
    explicit ProblemsView(QWidget *parent = nullptr);

    void setDiagnostics(const std::vector<Diagnostic> &diagnostics);
    int errorCount() const;

signals:
    void placeActivated(const QString &file, int line, int column);

private:
    std::vector<Diagnostic> m_diagnostics;
    DataTable *m_table;
    QLabel *m_empty;
};

} // namespace heddle
