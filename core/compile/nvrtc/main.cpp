// SPDX-License-Identifier: Apache-2.0
// heddle-nvrtc: does the job that lies in its working folder (core/compile/NvrtcJob.h) and ends.
//
// NVRTC compiles strangers' sources: an include of any file prints lines of it, and a template can take all memory or
// time. So it works in a process of its own, in the sandbox, which costs nothing when it is killed.
#include "core/base/Fd.h"
#include "core/compile/NvrtcJob.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

using namespace heddle;

Result<void> work()
{
    HEDDLE_TRY(const NvrtcWork given, readNvrtcWork("."));
    // NVRTC writes the folder where it works into what it makes: always the same one, so that equal sources give equal
    // bytes. The way back is a descriptor, since the sandbox's user may not pass the folders above.
    const Fd folder(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.isOpen() || ::chdir("/") != 0 || ::setenv("PWD", "/", 1) != 0)
        return Error(Code::Io, "the working folder can't be left");
    HEDDLE_TRY(const NvrtcAnswer answer, doNvrtcWork(given));
    if (::fchdir(folder.value()) != 0)
        return Error(Code::Io, "the working folder is gone");
    return writeFileAtomically(NvrtcJob::answerName, encodeAnswer(answer));
}

} // namespace

int main(int argc, char **)
{
    if (argc > 1) {
        std::fputs("heddle-nvrtc takes no arguments: it is started by Heddle in a folder with job.json\n",
                   stderr);
        return 2;
    }
    const auto done = work();
    if (!done)
        std::fprintf(stderr, "%s\n", compactText(toJson(done.error())).c_str());
    std::fflush(nullptr);
    // Without the destructors of a compiler that has done its work.
    ::_exit(done ? 0 : done.error().code() == Code::Environment ? 3 : 2);
}
