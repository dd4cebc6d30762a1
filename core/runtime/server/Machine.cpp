// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Machine.h"

#include "core/base/File.h"
#include "core/base/Python.h"
#include "core/compile/HostCompiler.h"
#include "core/sandbox/Locations.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace heddle {

namespace fs = std::filesystem;

namespace {

/// The largest arena: the budget of prepared sets (TaskHost) and room for the state.
constexpr std::uint64_t arenaLimitBytes = std::uint64_t{4} << 30;

/// The processors that this process may run on: what PyTorch takes for its own default.
int usableProcessors()
{
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        return static_cast<int>(std::max(1l, ::sysconf(_SC_NPROCESSORS_ONLN)));
    return std::max(1, CPU_COUNT(&set));
}

/// torch/lib/libgomp.so.1 below the interpreter's site-packages.
fs::path findGomp(const fs::path &python)
{
    std::error_code code;
    for (const fs::path &prefix : pythonFolders(python)) {
        const fs::path lib = prefix / "lib";
        for (const fs::directory_entry &entry : fs::directory_iterator(lib, code)) {
            if (!entry.path().filename().string().starts_with("python3"))
                continue;
            for (const char *packages : {"site-packages", "dist-packages"}) {
                const fs::path found = entry.path() / packages / "torch" / "lib" / "libgomp.so.1";
                if (fs::exists(found, code))
                    return found;
            }
        }
    }
    return {};
}

std::vector<std::string> pythonEnvironment(const fs::path &scratch)
{
    // Compiled code and its autotuning stay in one process: a pool of compile workers would outlive a judgement.
    return {"HEDDLE_SCRATCH=" + scratch.string(),
            "TORCHINDUCTOR_CACHE_DIR=" + (scratch / "inductor").string(),
            "TRITON_CACHE_DIR=" + (scratch / "triton").string(), "TORCHINDUCTOR_COMPILE_THREADS=1",
            "PYTHONDONTWRITEBYTECODE=1"};
}

} // namespace

Result<std::unique_ptr<Machine>> Machine::create(const MachineOptions &options)
{
    std::unique_ptr<Machine> machine(new Machine);
    machine->m_options = options;
    if (options.python.empty()) {
        HEDDLE_TRY(machine->m_options.python, findPython());
    }
    HEDDLE_TRY(machine->m_spawner, options.unsandboxed ? Spawner::createUnsandboxed() : Spawner::create());
    machine->m_gomp = findGomp(machine->m_options.python);
    machine->m_threads = usableProcessors();
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    machine->m_memoryLimit = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 2;
    HEDDLE_TRY(WorkerFolder own, WorkerFolder::create(cacheFolder() / "worker"));
    machine->m_folder.emplace(std::move(own));
    machine->m_exports = machine->m_folder->path() / "exports";
    const fs::path oracleScratch = machine->m_folder->path() / "oracle";
    const fs::path runnerScratch = machine->m_folder->path() / "runner";
    for (const fs::path &folder : {machine->m_exports, oracleScratch, runnerScratch})
        HEDDLE_CHECK_OK(makeFolder(folder));

    ZygoteOptions oracle;
    oracle.policy.role = Role::Oracle;
    oracle.policy.readOnly = pythonFolders(machine->m_options.python);
    oracle.policy.readOnly.push_back(options.package);
    oracle.policy.scratch = oracleScratch;
    oracle.policy.memoryBytes = machine->m_memoryLimit;
    oracle.policy.needsCompiler = true;
    oracle.policy.fileBytes = arenaLimitBytes; // the arena is a file in memory
    oracle.policy.processes = 256;
    oracle.policy.environment = pythonEnvironment(oracleScratch);
    const std::string launch = (options.package / "launch.py").string();
    oracle.argv = {machine->m_options.python.string(), "-I", launch, "--role", "oracle"};
    ZygoteOptions runner = oracle;
    runner.policy.role = Role::Candidate;
    runner.policy.needsCompiler = false;
    runner.policy.fileBytes = SandboxPolicy().fileBytes;
    runner.policy.readOnly.push_back(machine->m_exports);
    runner.policy.scratch = runnerScratch;
    runner.policy.environment = pythonEnvironment(runnerScratch);
    runner.policy.environment.push_back("TORCH_EXTENSIONS_DIR=" + machine->m_exports.string());
    runner.argv.back() = "runner";
    // torch.compile builds with a compiler of its own choice: the one of the kernels, so that both sides have the same.
    // What is wrong with it is said where a kernel is compiled; the oracle can do without.
    if (const auto compiler = findCompiler({}); compiler) {
        if (const auto view = machine->m_spawner->compilerView(*compiler); view) {
            view->addTo(oracle.policy);
            oracle.policy.environment.push_back("CXX=" + *compiler);
        }
    }
    machine->m_oracles = std::make_unique<Zygote>(*machine->m_spawner, std::move(oracle));
    machine->m_runners = std::make_unique<Zygote>(*machine->m_spawner, std::move(runner));
    return machine;
}

Machine::~Machine()
{
    if (m_runners)
        m_runners->stop();
    if (m_oracles)
        m_oracles->stop();
}

} // namespace heddle
