// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"
#include "widgets/common/Format.h"

#include <QCoreApplication>
#include <QStringList>

#include <vector>

namespace heddle {

/// A median with its interval out of a report, in milliseconds.
struct Timing {
    QString name; ///< as shown: "eager", "compile", "strongest (freezing)", "candidate"
    QString key;  ///< the report's own word
    double medianMs = 0.0;
    double lowMs = 0.0;
    double highMs = 0.0;
    std::int64_t runs = 0;
};

/// A verdict as views show it. The report belongs to whoever gave this.
struct ShownVerdict {
    const Json *report = nullptr; ///< null: not judged
    bool isOutdated = false;      ///< judged for another text of the task than the present one
};

/// Reads what the window shows out of a report (core/schemas/report.schema.json) or a `baseline_measured`
/// event. Lenient: what is missing is left out, never guessed. Pure functions.
class Report {
    Q_DECLARE_TR_FUNCTIONS(heddle::Report)

public:
    static QString baselineName(const std::string &key, const Json &baseline);
    /// Baselines in the order eager, compile, strongest, then the candidate where it was timed.
    static std::vector<Timing> timings(const Json &report);
    /// The speedups that count: deployed ones once confirmed, the runner's before.
    static const Json &speedups(const Json &report);
    static bool isConfirmed(const Json &report);
    /// "1.84× ± 0.03 vs compile" for eager and compile; an interval that holds 1 is said to be no difference.
    static QStringList speedupTexts(const Json &report);
    static QString speedupText(const Json &report, const std::string &baseline);
    static std::string verdictClass(const Json &report);

    /// "1.35 ms against 6.46 ms of eager, confirmed.": the candidate and the strongest baseline, timed in turns in
    /// that one run. The baselines of a quick report come from another event, so there it is the candidate alone:
    /// "1.16 ms, quick." Empty where nothing was timed.
    static QString timesText(const Json &report);
    /// The agent's summary with the times of its verdict, confirmed before quick as the report is.
    static QString proposalHeading(const QString &summary, const Json &report);
};

} // namespace heddle
