// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/ProgressLines.h"

namespace heddle::cli {

std::string progressText(const Progress &step)
{
    std::string line = step.phase;
    if (step.fraction >= 0.0)
        line += ' ' + std::to_string(static_cast<int>(step.fraction * 100.0)) + " %";
    if (!step.detail.empty())
        line += "  " + step.detail;
    return line;
}

ProgressLines::ProgressLines(std::function<void(const std::string &)> write, std::chrono::milliseconds apart)
    : m_write(std::move(write)), m_apart(apart), m_last(Clock::now() - apart), m_thread([this] { loop(); })
{
}

ProgressLines::~ProgressLines()
{
    {
        const std::lock_guard lock(m_mutex);
        m_isStopping = true;
        m_changed.notify_all();
    }
    m_thread.join();
}

void ProgressLines::show(const Progress &step)
{
    const std::lock_guard lock(m_mutex);
    const bool isNewStage = step.phase != m_phase;
    const auto since = Clock::now() - m_last;
    if (!isNewStage && m_waiting.empty() && since < 10 * m_apart)
        return;
    m_phase = step.phase;
    // How far it is says something only once it has gone on for a while.
    m_waiting = isNewStage ? progressText({step.phase, -1.0, step.detail}) : progressText(step);
    if (since >= m_apart)
        writeNow();
    else
        m_changed.notify_all();
}

void ProgressLines::drop()
{
    const std::lock_guard lock(m_mutex);
    m_waiting.clear();
    m_phase.clear();
}

void ProgressLines::writeNow()
{
    m_write(m_waiting + '\n');
    m_waiting.clear();
    m_last = Clock::now();
}

void ProgressLines::loop()
{
    std::unique_lock lock(m_mutex);
    while (!m_isStopping) {
        if (m_waiting.empty())
            m_changed.wait(lock);
        else if (m_changed.wait_until(lock, m_last + m_apart) == std::cv_status::timeout
                 && !m_waiting.empty())
            writeNow();
    }
}

} // namespace heddle::cli
