// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/jobs/Job.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heddle {

/// The only owner of threads in the supervisor: one for each lane, started with its first job. Every method
/// may be called from any thread, from jobs and observers too. The destructor cancels what runs, drops what
/// waits, and joins; it must not run on a lane's thread.
class JobRunner {
public:
    using Observer = std::function<void(const JobInfo &)>;
    using ObserverId = std::uint64_t;

    JobRunner() = default;
    JobRunner(const JobRunner &) = delete;
    JobRunner &operator=(const JobRunner &) = delete;
    ~JobRunner();

    /// Queues a job and returns its id. With a tag, the latest wins: waiting jobs of that tag are dropped
    /// and a running one is asked to stop, whatever its lane.
    JobId submit(const Lane &lane, std::string name, JobWork work, std::string tag = {});

    /// Drops the job if it waits, asks it to stop if it runs, does nothing if it has ended.
    void cancel(JobId id);
    void cancelAll();

    /// What waits and runs, by id: for the status bar.
    std::vector<JobInfo> jobs() const;

    /// Blocks until the job has ended and its observers were told. Never on the GUI thread, nor in a job of
    /// the same lane.
    void wait(JobId id);

    /// `observer` is called at each change of a job: from its lane's thread, or from the thread that
    /// submitted or cancelled it. Calls never overlap, and come in order for each job. It must be quick.
    ObserverId addObserver(Observer observer);
    /// After it returns the observer is not called again (unless this is called by an observer itself, whose
    /// present call goes on).
    void removeObserver(ObserverId id);

private:
    struct Job {
        JobInfo info; ///< guarded by m_mutex
        JobWork work;
        CancelSource cancel;
    };
    struct LaneQueue {
        std::deque<std::shared_ptr<Job>> waiting; ///< guarded by m_mutex
        std::condition_variable wake;
        std::thread thread;
    };

    void runLane(LaneQueue &queue);
    void run(const std::shared_ptr<Job> &job);
    void report(const std::shared_ptr<Job> &job, const Progress &progress);
    void finish(const std::shared_ptr<Job> &job, JobState state, std::string failure = {});
    void tell(const JobInfo &info);
    void tellWhileRunning(const Job &job);
    /// Takes waiting jobs out of their queue and asks running ones to stop.
    void cancelWhere(const std::function<bool(const JobInfo &)> &isMeant);

    mutable std::mutex m_mutex; ///< guards the members below it, and what says so
    std::condition_variable m_ended;
    JobId m_lastId = 0;
    bool m_isStopping = false;
    std::map<JobId, std::shared_ptr<Job>> m_jobs;
    std::map<Lane, std::unique_ptr<LaneQueue>> m_lanes;

    std::recursive_mutex m_observerMutex; ///< guards the members below; never taken with m_mutex held
    ObserverId m_lastObserver = 0;
    std::map<ObserverId, Observer> m_observers;
};

} // namespace heddle
