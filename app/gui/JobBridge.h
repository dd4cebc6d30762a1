// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/JobRunner.h"

#include <QObject>
#include <QPointer>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace heddle {

enum class JobKind {
    Shown, ///< in the status bar, with progress and cancel
    Quiet, ///< short and frequent: following the store, saving
};

/// The window's end of the job runner: results and progress come back on the GUI thread, progress at most
/// 30 times a second a job. Owned by the window's controller; methods on the GUI thread.
class JobBridge : public QObject {
    Q_OBJECT

public:
    explicit JobBridge(QObject *parent = nullptr);
    ~JobBridge() override;

    /// Runs `work` on the lane and hands its result to `done` on the GUI thread, unless `owner` has died or
    /// a newer job with the same tag took its place. `work` must not touch widgets.
    template<typename T>
    JobId run(const Lane &lane, JobKind kind, const QString &name, QObject *owner,
              std::function<T(const CancelToken &, const ProgressSink &)> work, std::function<void(T)> done,
              const std::string &tag = {})
    {
        const QPointer<QObject> guard(owner);
        JobWork wrapped = [this, guard, tag, work = std::move(work),
                           done = std::move(done)](const CancelToken &cancel, const ProgressSink &progress) {
            auto result = std::make_shared<T>(work(cancel, progress));
            const bool isStale = !tag.empty() && cancel.stop_requested();
            post([guard, done, result, isStale] {
                if (guard != nullptr && !isStale)
                    done(std::move(*result));
            });
        };
        return submit(lane, kind, name, std::move(wrapped), tag);
    }

    void cancel(JobId id);
    /// Asks every shown job to stop.
    void cancelShown();
    bool hasShownJobs() const { return !m_shown.empty(); }

signals:
    void jobStarted(quint64 id, const QString &name);
    void jobProgressed(quint64 id, const heddle::Progress &progress);
    void jobEnded(quint64 id);

private:
    JobId submit(const Lane &lane, JobKind kind, const QString &name, JobWork work, const std::string &tag);
    void post(std::function<void()> call);
    void observe(const JobInfo &info);
    void show(const JobInfo &info);

    std::mutex m_mutex; ///< guards the time of the last progress sent, which lane threads write
    std::map<JobId, std::chrono::steady_clock::time_point> m_lastProgress;
    std::set<JobId> m_shown;
    std::unique_ptr<JobRunner> m_runner;
};

} // namespace heddle
