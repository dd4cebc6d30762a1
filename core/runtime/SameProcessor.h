// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace heddle {

/// Keeps the calling thread, for this object's life, on the processor where the first thread of process `pid` last ran;
/// then gives it back the processors it had. A wake-up across processors costs 20 to 40 microseconds on a virtual machine
/// and one within a processor costs 7; which of the two a pair of processes falls into lasts as long as they do, so without
/// this one side of a comparison pays it in every call and the other in none (docs/decisions/0013). The subject itself is
/// never bound: its threads run where they would in anybody's hands.
/// Does nothing where the processor can't be read or isn't among the thread's own. One thread: the one that makes it.
class SameProcessor {
public:
    explicit SameProcessor(pid_t pid);
    SameProcessor(const SameProcessor &) = delete;
    SameProcessor &operator=(const SameProcessor &) = delete;
    ~SameProcessor();

private:
    cpu_set_t m_before{};
    bool m_isBound = false;
};

} // namespace heddle
