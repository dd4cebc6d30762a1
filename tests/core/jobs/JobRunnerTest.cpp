// SPDX-License-Identifier: Apache-2.0
#include "core/jobs/JobRunner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <random>
#include <stdexcept>

namespace heddle {

namespace {

/// Blocks the job until it is cancelled.
void untilCancelled(const CancelToken &cancel)
{
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait(lock, cancel, [] { return false; });
}

/// Collects what an observer is told.
class Record {
public:
    explicit Record(JobRunner &runner) : m_runner(runner)
    {
        m_id = runner.addObserver([this](const JobInfo &info) {
            const std::lock_guard lock(m_mutex);
            m_infos.push_back(info);
        });
    }
    Record(const Record &) = delete;
    Record &operator=(const Record &) = delete;
    ~Record() { m_runner.removeObserver(m_id); }

    std::vector<JobState> statesOf(JobId id) const
    {
        const std::lock_guard lock(m_mutex);
        std::vector<JobState> states;
        for (const JobInfo &info : m_infos)
            if (info.id == id && (states.empty() || states.back() != info.state))
                states.push_back(info.state);
        return states;
    }
    std::vector<JobInfo> infos() const
    {
        const std::lock_guard lock(m_mutex);
        return m_infos;
    }

private:
    JobRunner &m_runner;
    JobRunner::ObserverId m_id = 0;
    mutable std::mutex m_mutex; ///< guards m_infos
    std::vector<JobInfo> m_infos;
};

using States = std::vector<JobState>;
using enum JobState;

TEST(JobRunner, AJobRunsOnAnotherThreadAndIsToldInOrder)
{
    JobRunner runner;
    Record record(runner);
    std::thread::id thread;
    const JobId id =
        runner.submit(Lane::cpu(), "Compile", [&](const CancelToken &, const ProgressSink &progress) {
            thread = std::this_thread::get_id();
            progress({"compiling", 0.5, "kernel.cpp"});
        });
    runner.wait(id);
    EXPECT_NE(thread, std::this_thread::get_id());
    EXPECT_EQ(record.statesOf(id), (States{Waiting, Running, Done}));
    const auto infos = record.infos();
    ASSERT_EQ(infos.size(), 4u);
    EXPECT_EQ(infos[2].progress.phase, "compiling");
    EXPECT_EQ(infos[2].progress.fraction, 0.5);
    EXPECT_EQ(infos[3].name, "Compile");
    EXPECT_TRUE(runner.jobs().empty());
}

TEST(JobRunner, JobsOfOneDeviceRunOneAtATimeInOrderAndLanesRunAtOnce)
{
    JobRunner runner;
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    std::vector<int> order;
    std::vector<JobId> ids;
    for (int i = 0; i < 20; ++i)
        ids.push_back(
            runner.submit(Lane::device("cpu"), "m", [&, i](const CancelToken &, const ProgressSink &) {
                most = std::max(most.load(), ++running);
                order.push_back(i);
                std::this_thread::yield();
                --running;
            }));
    for (const JobId id : ids)
        runner.wait(id);
    EXPECT_EQ(most, 1);
    std::vector<int> expected(20);
    for (int i = 0; i < 20; ++i)
        expected[static_cast<std::size_t>(i)] = i;
    EXPECT_EQ(order, expected);

    // Four lanes meet at a latch, which they can only do together.
    std::latch meeting(4);
    ids.clear();
    for (const Lane &lane : {Lane::device("cpu"), Lane::device("cuda:0"), Lane::cpu(), Lane::io()})
        ids.push_back(runner.submit(
            lane, "meet", [&](const CancelToken &, const ProgressSink &) { meeting.arrive_and_wait(); }));
    for (const JobId id : ids)
        runner.wait(id);
}

TEST(JobRunner, ARunningJobIsCancelledThroughItsToken)
{
    JobRunner runner;
    Record record(runner);
    std::latch started(1);
    const JobId id = runner.submit(Lane::io(), "long", [&](const CancelToken &cancel, const ProgressSink &) {
        started.count_down();
        untilCancelled(cancel);
    });
    started.wait();
    ASSERT_EQ(runner.jobs().size(), 1u);
    EXPECT_EQ(runner.jobs()[0].state, Running);
    runner.cancel(id);
    runner.wait(id);
    EXPECT_EQ(record.statesOf(id), (States{Waiting, Running, Cancelled}));
    runner.cancel(id);
    runner.cancel(12345);
}

TEST(JobRunner, AWaitingJobThatIsCancelledNeverRuns)
{
    JobRunner runner;
    Record record(runner);
    const auto wait = [](const CancelToken &cancel, const ProgressSink &) { untilCancelled(cancel); };
    const JobId first = runner.submit(Lane::cpu(), "first", wait);
    bool hasRun = false;
    const JobId second = runner.submit(Lane::cpu(), "second",
                                       [&](const CancelToken &, const ProgressSink &) { hasRun = true; });
    runner.cancel(second);
    runner.wait(second);
    runner.cancel(first);
    runner.wait(first);
    EXPECT_FALSE(hasRun);
    EXPECT_EQ(record.statesOf(second), (States{Waiting, Cancelled}));
}

TEST(JobRunner, TheLatestOfATagWins)
{
    JobRunner runner;
    Record record(runner);
    std::latch started(1);
    std::vector<int> delivered;
    const auto work = [&](int number) {
        return [&, number](const CancelToken &cancel, const ProgressSink &) {
            if (number == 0) {
                started.count_down();
                untilCancelled(cancel);
            }
            if (!cancel.stop_requested())
                delivered.push_back(number);
        };
    };
    std::vector<JobId> ids{runner.submit(Lane::cpu(), "hover", work(0), "hover")};
    started.wait();
    const JobId other = runner.submit(Lane::io(), "other", work(7), "other");
    runner.wait(other);
    for (int number = 1; number < 5; ++number)
        ids.push_back(runner.submit(Lane::cpu(), "hover", work(number), "hover"));
    for (const JobId id : ids)
        runner.wait(id);
    ASSERT_EQ(delivered.front(), 7);
    EXPECT_EQ(delivered.back(), 4);
    EXPECT_EQ(record.statesOf(ids[0]).back(), Cancelled);
    EXPECT_EQ(record.statesOf(ids[4]).back(), Done);
}

TEST(JobRunner, AJobThatThrowsFailsAloneAndIsReported)
{
    JobRunner runner;
    Record record(runner);
    const JobId bad = runner.submit(Lane::cpu(), "bad", [](const CancelToken &, const ProgressSink &) {
        throw std::runtime_error("no memory left");
    });
    const JobId good = runner.submit(Lane::cpu(), "good", [](const CancelToken &, const ProgressSink &) {});
    runner.wait(good);
    EXPECT_EQ(record.statesOf(bad).back(), Failed);
    EXPECT_EQ(record.statesOf(good).back(), Done);
    bool isSaid = false;
    for (const JobInfo &info : record.infos())
        isSaid = isSaid || info.failure == "no memory left";
    EXPECT_TRUE(isSaid);
}

TEST(JobRunner, ItsEndCancelsWhatRunsAndDropsWhatWaits)
{
    std::atomic<int> ran = 0;
    std::atomic<int> cancelled = 0;
    {
        JobRunner runner;
        runner.addObserver([&](const JobInfo &info) { cancelled += info.state == Cancelled ? 1 : 0; });
        std::latch started(2);
        for (const Lane &lane : {Lane::cpu(), Lane::io()})
            for (int i = 0; i < 5; ++i)
                runner.submit(lane, "job", [&](const CancelToken &cancel, const ProgressSink &) {
                    ++ran;
                    started.count_down();
                    untilCancelled(cancel);
                });
        started.wait();
    }
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(cancelled, 10);
}

TEST(JobRunner, JobsAndObserversMayCallTheRunner)
{
    JobRunner runner;
    std::atomic<int> chained = 0;
    std::atomic<std::size_t> listed = 0;
    JobRunner::ObserverId self = 0;
    self = runner.addObserver([&](const JobInfo &info) {
        listed += runner.jobs().size();
        if (info.state == Done)
            runner.removeObserver(self);
    });
    JobId inner = 0;
    const JobId outer = runner.submit(Lane::cpu(), "outer", [&](const CancelToken &, const ProgressSink &) {
        inner =
            runner.submit(Lane::io(), "inner", [&](const CancelToken &, const ProgressSink &) { ++chained; });
    });
    runner.wait(outer);
    runner.wait(inner);
    EXPECT_EQ(chained, 1);
    EXPECT_GT(listed, 0u);
}

TEST(JobRunner, ARemovedObserverIsNotCalledAgain)
{
    JobRunner runner;
    for (int round = 0; round < 50; ++round) {
        auto alive = std::make_unique<std::atomic<int>>(0);
        const auto observer = runner.addObserver([counter = alive.get()](const JobInfo &) { ++*counter; });
        runner.submit(Lane::cpu(), "job", [](const CancelToken &, const ProgressSink &progress) {
            for (int i = 0; i < 10; ++i)
                progress({"step", i / 10.0, {}});
        });
        runner.removeObserver(observer);
        alive.reset(); // a late call would touch freed memory, which the sanitizers see
    }
    runner.cancelAll();
}

TEST(JobRunner, AnyMixOfCallsFromManyThreadsEndsEveryJobOnce)
{
    std::mutex mutex;
    std::map<JobId, int> ends;
    std::atomic<int> submitted = 0;
    {
        JobRunner runner;
        runner.addObserver([&](const JobInfo &info) {
            if (info.state == Waiting || info.state == Running)
                return;
            const std::lock_guard lock(mutex);
            ++ends[info.id];
        });
        std::vector<std::thread> callers;
        for (unsigned seed = 1; seed <= 4; ++seed)
            callers.emplace_back([&, seed] {
                std::mt19937 random(seed);
                for (int i = 0; i < 300; ++i) {
                    const Lane lane =
                        random() % 2 == 0 ? Lane::cpu() : Lane::device(std::to_string(random() % 3));
                    const JobId id = runner.submit(
                        lane, "job",
                        [](const CancelToken &cancel, const ProgressSink &progress) {
                            progress({"working", 0.1, {}});
                            if (!cancel.stop_requested())
                                std::this_thread::yield();
                        },
                        random() % 3 == 0 ? "tag" : "");
                    ++submitted;
                    if (random() % 4 == 0)
                        runner.cancel(id - random() % 3);
                    if (random() % 16 == 0)
                        runner.wait(id);
                    if (random() % 16 == 0)
                        static_cast<void>(runner.jobs());
                }
            });
        for (std::thread &caller : callers)
            caller.join();
    }
    EXPECT_EQ(static_cast<int>(ends.size()), submitted);
    for (const auto &[id, count] : ends)
        EXPECT_EQ(count, 1) << "job " << id;
}

} // namespace

} // namespace heddle
