// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/JobBridge.h"

#include "widgets/common/Text.h"

namespace heddle {

namespace {

constexpr std::chrono::milliseconds progressInterval{33};
/// Quiet jobs are told apart by their name, which never reaches a screen.
constexpr std::string_view quietName = "quiet";

} // namespace

JobBridge::JobBridge(QObject *parent) : QObject(parent), m_runner(std::make_unique<JobRunner>())
{
    m_runner->addObserver([this](const JobInfo &info) { observe(info); });
}

JobBridge::~JobBridge()
{
    // Joins the lanes before anything they post to goes away.
    m_runner.reset();
}

JobId JobBridge::submit(const Lane &lane, JobKind kind, const QString &name, JobWork work,
                        const std::string &tag)
{
    const std::string shown = kind == JobKind::Quiet ? std::string(quietName) : toUtf8(name);
    return m_runner->submit(lane, shown, std::move(work), tag);
}

void JobBridge::post(std::function<void()> call)
{
    QMetaObject::invokeMethod(this, std::move(call), Qt::QueuedConnection);
}

void JobBridge::observe(const JobInfo &info)
{
    if (info.name == quietName)
        return;
    if (info.state == JobState::Running) {
        const auto now = std::chrono::steady_clock::now();
        const std::lock_guard lock(m_mutex);
        const auto [last, isFirst] = m_lastProgress.try_emplace(info.id, now);
        if (!isFirst && now - last->second < progressInterval)
            return;
        last->second = now;
    }
    post([this, info] { show(info); });
}

void JobBridge::show(const JobInfo &info)
{
    const bool hasEnded = info.state != JobState::Waiting && info.state != JobState::Running;
    if (hasEnded) {
        {
            const std::lock_guard lock(m_mutex);
            m_lastProgress.erase(info.id);
        }
        if (m_shown.erase(info.id) > 0)
            emit jobEnded(info.id);
        return;
    }
    if (m_shown.insert(info.id).second)
        emit jobStarted(info.id, toText(info.name));
    if (info.state == JobState::Running)
        emit jobProgressed(info.id, info.progress);
}

void JobBridge::cancel(JobId id) { m_runner->cancel(id); }

void JobBridge::cancelShown()
{
    const std::set<JobId> shown = m_shown;
    for (const JobId id : shown)
        m_runner->cancel(id);
}

} // namespace heddle
