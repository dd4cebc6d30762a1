// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QScrollArea>

class QLabel;
class QVBoxLayout;

namespace heddle {

class DataTable;

/// A report as a page: the verdict in a sentence, then timings, figures, lint, operators, the evidence sheet
/// and the environment, each a table. Shows baselines, lints and events alike. GUI thread.
class EvidenceView : public QScrollArea {
    Q_OBJECT

public:
    explicit EvidenceView(QWidget *parent = nullptr);

    /// `title` names what was measured. A null report shows one sentence and no number.
    void setReport(const QString &title, const Json &report);
    const Json &report() const { return m_report; }
    QString heading() const;

private:
    class VerdictMark;
    struct Section {
        QWidget *card = nullptr;
        DataTable *table = nullptr;
    };
    Section addSection(QVBoxLayout *page, const QString &title, const QStringList &headers, int stretch);

    Json m_report;
    VerdictMark *m_mark;
    QLabel *m_title;
    QLabel *m_verdict;
    QLabel *m_sentence;
    Section m_timings, m_figures, m_lint, m_operators, m_evidence, m_environment;
};

} // namespace heddle
