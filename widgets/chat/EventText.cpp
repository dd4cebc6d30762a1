// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chat/EventText.h"

#include "widgets/common/Format.h"
#include "widgets/common/Report.h"
#include "widgets/common/Status.h"
#include "widgets/common/Text.h"

#include <QDateTime>
#include <QLocale>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

using Kind = Fragment::Kind;

Fragment words(const QString &text) { return {Kind::Words, text, 0}; }

Fragment strong(const QString &text) { return {Kind::Strong, text, 0}; }

Fragment muted(const QString &text) { return {Kind::Muted, text, 0}; }

Fragment link(const QString &text, std::int64_t event) { return {Kind::Link, text, event}; }

QString shortDigest(const std::string &digest) { return toText(std::string_view(digest).substr(0, 8)); }

int sizeOf(const Json &array) { return array.is_array() ? static_cast<int>(array.size()) : 0; }

} // namespace

QString EventText::actorName(const std::string &actor)
{
    if (actor == "person")
        return tr("You");
    if (actor == "builtin")
        return tr("Built-in optimiser");
    if (actor == "system")
        return tr("Heddle");
    return toText(actor);
}

QString EventText::timeOfDay(const Event &event)
{
    const QDateTime time = QDateTime::fromString(toText(event.time), Qt::ISODateWithMs);
    return time.isValid() ? time.toLocalTime().toString(u"HH:mm:ss"_s) : QString();
}

std::vector<Fragment> EventText::fragments(const Event &event, const QString &planTitle)
{
    const Json &data = event.data;
    const std::string &type = event.type;
    if (type == "session_started") {
        return {words(tr("Started on")), strong(toText(stringOr(memberOr(data, "task"), "name"))),
                muted(tr("target %1").arg(toText(stringOr(data, "target"))))};
    }
    if (type == "session_ended")
        return sessionEnd(event);
    if (type == "plan_item_changed") {
        return {words(tr("Plan item")),
                strong(planTitle.isEmpty() ? toText(stringOr(data, "id")) : planTitle),
                words(tr("is now %1").arg(toText(stringOr(data, "state")))),
                muted(toText(stringOr(data, "note")))};
    }
    if (type == "note")
        return note(event);
    if (type == "proposal_opened")
        return {words(tr("Proposed:")), strong(toText(stringOr(data, "summary")))};
    if (type == "proposal_state_changed") {
        return {words(tr("The proposal is now %1.").arg(StatusMark::proposalState(stringOr(data, "state")))),
                muted(toText(stringOr(data, "reason")))};
    }
    if (type == "decided" || type == "undone" || type == "landed" || type == "commented")
        return decision(event);
    if (type == "exported")
        return {words(tr("Exported it to")), strong(toText(stringOr(data, "folder")))};
    if (type == "cancel_requested")
        return {words(tr("Asked to stop."))};
    return measured(event);
}

std::vector<Fragment> EventText::measured(const Event &event)
{
    const Json &data = event.data;
    const std::string &type = event.type;
    if (type == "linted")
        return {words(tr("Linted the task:")),
                link(tr("findings: %1").arg(sizeOf(memberOr(data, "findings"))), event.id)};
    if (type == "baseline_measured")
        return baseline(event);
    if (type == "graph_captured") {
        const Json &operators = memberOr(data, "operators");
        int count = 0;
        if (operators.is_object()) {
            for (const Json &entry : operators)
                count += entry.is_number_integer() ? entry.get<int>() : 0;
        }
        return {words(tr("Captured the graph:")), link(tr("operators: %1").arg(count), event.id)};
    }
    if (type == "plan_written")
        return {words(tr("Wrote a plan:")),
                link(tr("items: %1").arg(sizeOf(memberOr(data, "items"))), event.id)};
    if (type == "candidate_created")
        return {words(tr("Wrote a candidate")), link(shortDigest(stringOr(data, "candidate")), event.id)};
    if (type == "compiled") {
        const bool isOk = boolOr(data, "ok", false);
        return {words(isOk ? tr("Compiled it in") : tr("It did not compile after")),
                link(Format::seconds(numberOr(data, "seconds", 0.0)), event.id)};
    }
    if (type == "judged")
        return judged(event);
    if (type == "benchmarked") {
        const Json &tunables = memberOr(data, "tunables");
        std::vector<Fragment> parts{words(tr("Timed a variant:")),
                                    link(Format::milliseconds(numberOr(data, "median_ms", 0.0)), event.id)};
        if (tunables.is_object() && !tunables.empty()) {
            QStringList settings;
            for (const auto &[name, value] : tunables.items())
                settings << u"%1 %2"_s.arg(toText(name), toText(compactText(value)));
            parts.push_back(muted(tr("with %1").arg(settings.join(u", "_s))));
        }
        return parts;
    }
    return {};
}

std::vector<Fragment> EventText::baseline(const Event &event)
{
    std::vector<Fragment> parts{words(tr("Measured the baselines:"))};
    for (const Timing &timing : Report::timings(event.data)) {
        if (parts.size() > 1)
            parts.push_back(words(u"·"_s));
        parts.push_back(words(timing.name));
        parts.push_back(link(Format::interval(timing.medianMs, timing.lowMs, timing.highMs), event.id));
    }
    return parts;
}

std::vector<Fragment> EventText::judged(const Event &event)
{
    const Json &report = memberOr(event.data, "report");
    const std::string verdict = Report::verdictClass(report);
    std::vector<Fragment> parts{
        words(stringOr(event.data, "stage") == "confirmed" ? tr("Confirmed verdict:") : tr("Quick verdict:")),
        link(StatusMark::verdictName(verdict), event.id)};
    for (const QString &speedup : Report::speedupTexts(report)) {
        parts.push_back(words(u"·"_s));
        parts.push_back(link(speedup, event.id));
    }
    return parts;
}

std::vector<Fragment> EventText::note(const Event &event)
{
    // Each figure is found in the sentence and becomes a link there; one that is not in it follows it.
    QString text = toText(stringOr(event.data, "text"));
    std::vector<Fragment> parts;
    std::vector<Fragment> rest;
    const Json &figures = memberOr(event.data, "figures");
    if (figures.is_array()) {
        for (const Json &figure : figures) {
            const QString shown = toText(stringOr(figure, "text"));
            const std::int64_t source = integerOr(figure, "event", event.id);
            const qsizetype at = shown.isEmpty() ? -1 : text.indexOf(shown);
            if (at < 0) {
                if (!shown.isEmpty())
                    rest.push_back(link(shown, source));
                continue;
            }
            if (const QString before = text.left(at).trimmed(); !before.isEmpty())
                parts.push_back(words(before));
            parts.push_back(link(shown, source));
            text = text.mid(at + shown.size());
        }
    }
    if (const QString after = text.trimmed(); !after.isEmpty())
        parts.push_back(words(after));
    parts.insert(parts.end(), rest.begin(), rest.end());
    return parts;
}

std::vector<Fragment> EventText::decision(const Event &event)
{
    const Json &data = event.data;
    if (event.type == "undone")
        return {words(tr("Undid a decision."))};
    if (event.type == "landed")
        return {words(tr("Landed revision")), link(shortDigest(stringOr(data, "revision")), event.id)};
    if (event.type == "commented") {
        return {words(tr("Commented on %1, line %2:")
                          .arg(toText(stringOr(data, "file")),
                               QLocale().toString(qlonglong(integerOr(data, "line", 0))))),
                words(toText(stringOr(data, "text")))};
    }
    const std::string choice = stringOr(data, "decision");
    std::vector<Fragment> parts{strong(choice == "accept" ? tr("Accepted the proposal.")
                                           : choice == "accept_in_part"
                                           ? tr("Accepted a part of the proposal.")
                                           : tr("Rejected the proposal."))};
    if (const std::string reason = stringOr(data, "reason"); !reason.empty())
        parts.push_back(muted(tr("Reason: %1").arg(toText(reason))));
    if (const std::string comment = stringOr(data, "comment"); !comment.empty())
        parts.push_back(words(toText(comment)));
    return parts;
}

std::vector<Fragment> EventText::sessionEnd(const Event &event)
{
    const std::string reason = stringOr(event.data, "reason");
    QString text = tr("Ended: %1").arg(toText(reason));
    if (reason == "done")
        text = tr("Done.");
    else if (reason == "cancelled")
        text = tr("Stopped on request.");
    else if (reason == "failed")
        text = tr("Failed.");
    else if (reason == "at_roof")
        text = tr("The task is already at its roof; there is nothing to gain.");
    else if (reason == "no_candidate")
        text = tr("No candidate was found.");
    else if (reason == "taken_over")
        text = tr("Another process took over after its worker died.");
    return {strong(text), words(toText(stringOr(event.data, "message")))};
}

} // namespace heddle
