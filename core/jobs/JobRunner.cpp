// SPDX-License-Identifier: Apache-2.0
#include "core/jobs/JobRunner.h"

#include <algorithm>
#include <exception>

namespace heddle {

namespace {

bool hasEnded(JobState state) { return state != JobState::Waiting && state != JobState::Running; }

} // namespace

JobRunner::~JobRunner()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isStopping = true;
    }
    cancelAll();
    // Nothing is added to m_lanes any more: submit() refuses.
    for (auto &[lane, queue] : m_lanes) {
        {
            // Taken and left, so that a lane between its check and its sleep doesn't miss the call.
            const std::lock_guard lock(m_mutex);
        }
        queue->wake.notify_all();
        queue->thread.join();
    }
}

JobId JobRunner::submit(const Lane &lane, std::string name, JobWork work, std::string tag)
{
    auto job = std::make_shared<Job>();
    job->work = std::move(work);
    JobInfo snapshot;
    {
        const std::lock_guard lock(m_mutex);
        job->info.id = ++m_lastId;
        job->info.name = std::move(name);
        job->info.tag = std::move(tag);
        job->info.lane = lane;
        snapshot = job->info;
        m_jobs.emplace(snapshot.id, job);
    }
    if (!snapshot.tag.empty())
        cancelWhere([&](const JobInfo &info) { return info.tag == snapshot.tag && info.id < snapshot.id; });
    // Told before it is queued, so that "waiting" can't come after "running".
    tell(snapshot);
    bool isRefused = false;
    {
        const std::lock_guard lock(m_mutex);
        // It may have been cancelled already, by an observer or a newer job of its tag.
        isRefused = m_isStopping || job->info.isCancelRequested;
        if (!isRefused) {
            auto &queue = m_lanes[lane];
            if (!queue) {
                queue = std::make_unique<LaneQueue>();
                queue->thread = std::thread([this, lanes = queue.get()] { runLane(*lanes); });
            }
            queue->waiting.push_back(job);
            queue->wake.notify_one();
        }
    }
    if (isRefused)
        finish(job, JobState::Cancelled);
    return snapshot.id;
}

void JobRunner::cancel(JobId id)
{
    cancelWhere([id](const JobInfo &info) { return info.id == id; });
}

void JobRunner::cancelAll()
{
    cancelWhere([](const JobInfo &) { return true; });
}

void JobRunner::cancelWhere(const std::function<bool(const JobInfo &)> &isMeant)
{
    std::vector<std::shared_ptr<Job>> dropped;
    std::vector<std::shared_ptr<Job>> stopping;
    {
        const std::lock_guard lock(m_mutex);
        for (const auto &[id, job] : m_jobs) {
            if (job->info.isCancelRequested || hasEnded(job->info.state) || !isMeant(job->info))
                continue;
            job->info.isCancelRequested = true;
            if (job->info.state == JobState::Running) {
                stopping.push_back(job);
                continue;
            }
            // Not in a queue: submit() is about to put it there, sees the request, and ends it itself.
            const auto lane = m_lanes.find(job->info.lane);
            if (lane != m_lanes.end() && std::erase(lane->second->waiting, job) > 0)
                dropped.push_back(job);
        }
    }
    // Callbacks of the token and observers run without the lock: they may call back.
    for (const auto &job : stopping) {
        tellWhileRunning(*job);
        job->cancel.request_stop();
    }
    for (const auto &job : dropped)
        finish(job, JobState::Cancelled);
}

std::vector<JobInfo> JobRunner::jobs() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<JobInfo> out;
    for (const auto &[id, job] : m_jobs)
        if (!hasEnded(job->info.state))
            out.push_back(job->info);
    return out;
}

void JobRunner::wait(JobId id)
{
    std::unique_lock lock(m_mutex);
    m_ended.wait(lock, [&] { return !m_jobs.contains(id); });
}

JobRunner::ObserverId JobRunner::addObserver(Observer observer)
{
    const std::lock_guard lock(m_observerMutex);
    m_observers.emplace(++m_lastObserver, std::move(observer));
    return m_lastObserver;
}

void JobRunner::removeObserver(ObserverId id)
{
    const std::lock_guard lock(m_observerMutex);
    m_observers.erase(id);
}

void JobRunner::runLane(LaneQueue &queue)
{
    while (true) {
        std::shared_ptr<Job> job;
        JobInfo snapshot;
        {
            std::unique_lock lock(m_mutex);
            queue.wake.wait(lock, [&] { return m_isStopping || !queue.waiting.empty(); });
            if (queue.waiting.empty())
                return;
            job = std::move(queue.waiting.front());
            queue.waiting.pop_front();
            job->info.state = JobState::Running;
            snapshot = job->info;
        }
        tell(snapshot);
        run(job);
    }
}

void JobRunner::run(const std::shared_ptr<Job> &job)
{
    const CancelToken token = job->cancel.get_token();
    JobState state = JobState::Failed;
    std::string failure;
    try {
        job->work(token, [&](const Progress &progress) { report(job, progress); });
        state = token.stop_requested() ? JobState::Cancelled : JobState::Done;
    } catch (const std::exception &thrown) {
        failure = thrown.what();
    } catch (...) {
        failure = "something that is no exception was thrown";
    }
    finish(job, state, std::move(failure));
}

void JobRunner::report(const std::shared_ptr<Job> &job, const Progress &progress)
{
    JobInfo snapshot;
    {
        const std::lock_guard lock(m_mutex);
        job->info.progress = progress;
        snapshot = job->info;
    }
    tell(snapshot);
}

void JobRunner::finish(const std::shared_ptr<Job> &job, JobState state, std::string failure)
{
    // What the work captured goes first: its owner may wait for the end of the job.
    job->work = nullptr;
    JobInfo snapshot;
    {
        const std::lock_guard lock(m_mutex);
        job->info.state = state;
        job->info.failure = std::move(failure);
        snapshot = job->info;
    }
    tell(snapshot);
    const std::lock_guard lock(m_mutex);
    m_jobs.erase(snapshot.id);
    m_ended.notify_all();
}

void JobRunner::tellWhileRunning(const Job &job)
{
    // With the observers' lock held the job's end, if it comes now, is told after this.
    const std::lock_guard observers(m_observerMutex);
    JobInfo snapshot;
    {
        const std::lock_guard lock(m_mutex);
        snapshot = job.info;
    }
    if (!hasEnded(snapshot.state))
        tell(snapshot);
}

void JobRunner::tell(const JobInfo &info)
{
    const std::lock_guard lock(m_observerMutex);
    // One by one by id, since an observer may remove itself, others, or add some.
    for (auto next = m_observers.begin(); next != m_observers.end();) {
        const ObserverId id = next->first;
        const Observer observer = next->second;
        observer(info);
        next = m_observers.upper_bound(id);
    }
}

} // namespace heddle
