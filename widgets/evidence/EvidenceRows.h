// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"
#include "widgets/common/RowsModel.h"

#include <QCoreApplication>

#include <vector>

namespace heddle {

/// A report as rows of tables, ready to be shown. Pure functions; missing members give no row.
class EvidenceRows {
    Q_DECLARE_TR_FUNCTIONS(heddle::EvidenceRows)

public:
    static QStringList evidenceHeaders();
    /// Status, id, sentence and figures of each row of the evidence sheet, failed ones first.
    static std::vector<Row> evidence(const Json &report);
    static QStringList timingHeaders();
    /// Median, interval, a bar on one scale, runs and speedup of baselines and candidate.
    static std::vector<Row> timings(const Json &report);
    static QStringList factHeaders();
    /// Roof, coverage, reward and stage.
    static std::vector<Row> figures(const Json &report);
    /// The environment, flattened to dotted names.
    static std::vector<Row> environment(const Json &report);
    static QStringList operatorHeaders();
    static std::vector<Row> operators(const Json &report);
    static QStringList lintHeaders();
    static std::vector<Row> lint(const Json &findings);
    /// Members of an object on one line: "max_abs 1.2e-07, wrong 0".
    static QString figuresText(const Json &data);
};

} // namespace heddle
