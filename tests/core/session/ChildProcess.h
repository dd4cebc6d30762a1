// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace heddle::test {

/// A forked copy of the test that runs `work(reportFd)` and exits with its result; killed when destroyed.
/// No Store may be open in the parent at that moment: SQLite's locks don't pass through a fork.
class ChildProcess {
public:
    explicit ChildProcess(const std::function<int(int)> &work)
    {
        int ends[2] = {-1, -1};
        if (::pipe(ends) != 0)
            return;
        m_pid = ::fork();
        if (m_pid == 0) {
            ::close(ends[0]);
            ::_exit(work(ends[1]));
        }
        ::close(ends[1]);
        m_report = ends[0];
    }
    ChildProcess(const ChildProcess &) = delete;
    ChildProcess &operator=(const ChildProcess &) = delete;
    ~ChildProcess()
    {
        kill();
        wait();
        ::close(m_report);
    }

    pid_t pid() const { return m_pid; }
    void kill()
    {
        if (m_pid > 0)
            ::kill(m_pid, SIGKILL);
    }
    /// The exit status, or -1 after a signal.
    int wait()
    {
        if (m_pid <= 0)
            return -1;
        int status = 0;
        ::waitpid(m_pid, &status, 0);
        m_pid = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    /// One line of the report without its end; empty when the child is gone. A cut-off line is dropped.
    std::string readLine()
    {
        std::string line;
        char c = 0;
        while (::read(m_report, &c, 1) == 1) {
            if (c == '\n')
                return line;
            line += c;
        }
        return {};
    }

private:
    pid_t m_pid = -1;
    int m_report = -1;
};

inline void report(int fd, const std::string &line)
{
    const std::string whole = line + '\n';
    if (::write(fd, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
        ::_exit(9);
}

} // namespace heddle::test
