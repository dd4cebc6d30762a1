// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/Store.h"

#include <QCoreApplication>
#include <QString>

#include <vector>

namespace heddle {

/// A piece of a transcript line; one with an event is a link to what measured it.
struct Fragment {
    enum class Kind { Words, Strong, Muted, Link };
    Kind kind = Kind::Words;
    QString text;
    std::int64_t event = 0;
    bool operator==(const Fragment &) const = default;
};

/// An event as a line of the transcript. Every figure that a line shows is a Link to the event it comes
/// from. Pure functions; events that say nothing to a person give no fragments.
class EventText {
    Q_DECLARE_TR_FUNCTIONS(heddle::EventText)

public:
    /// `planTitle`: of the plan item that the event is about; empty: it is called by its id.
    static std::vector<Fragment> fragments(const Event &event, const QString &planTitle = {});
    static QString actorName(const std::string &actor);
    /// "14:03:27", from the event's UTC time, in local time.
    static QString timeOfDay(const Event &event);

private:
    static std::vector<Fragment> measured(const Event &event);
    static std::vector<Fragment> judged(const Event &event);
    static std::vector<Fragment> baseline(const Event &event);
    static std::vector<Fragment> note(const Event &event);
    static std::vector<Fragment> decision(const Event &event);
    static std::vector<Fragment> sessionEnd(const Event &event);
};

} // namespace heddle
