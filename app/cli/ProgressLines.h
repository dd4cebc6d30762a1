// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Cancel.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace heddle::cli {

/// A step as text without newline: "timing 40 %  round 3".
std::string progressText(const Progress &step);

/// Progress for a log or a pipe, where nothing can be written over: a plain line for each stage, two lines never closer
/// than `apart`. A stage that begins too soon after the last line is written when its time has come, unless the next one
/// has begun by then; one that lasts is written again, with how far it is, every ten such spans. Thread-safe.
class ProgressLines {
public:
    /// `write` gets whole lines with their newline, one at a time, on any thread.
    explicit ProgressLines(std::function<void(const std::string &)> write,
                           std::chrono::milliseconds apart = std::chrono::seconds(3));
    ~ProgressLines();

    void show(const Progress &step);
    /// Forgets what is not written yet: the operation has ended, and its result follows.
    void drop();

private:
    using Clock = std::chrono::steady_clock;
    void loop();
    void writeNow();

    std::function<void(const std::string &)> m_write;
    std::chrono::milliseconds m_apart;
    std::mutex m_mutex; // guards everything below
    std::condition_variable m_changed;
    std::string m_phase;   ///< of the last step
    std::string m_waiting; ///< a line that is due at m_last + m_apart; empty: none
    Clock::time_point m_last;
    bool m_isStopping = false;
    std::thread m_thread; // last: it uses all of the above
};

} // namespace heddle::cli
