// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/server/Doctor.h"

#include "core/compile/CudaCompiler.h"
#include "core/compile/Disassembler.h"
#include "core/sandbox/Locations.h"

#include <unistd.h>

namespace heddle {

namespace {

Json good(std::string_view id, const std::string &found)
{
    return {{"id", id}, {"ok", true}, {"found", found}, {"missing", ""}, {"next", ""}};
}

Json bad(std::string_view id, const std::string &missing, const std::string &next)
{
    return {{"id", id}, {"ok", false}, {"found", ""}, {"missing", missing}, {"next", next}};
}

/// Which one, whether it works where kernels are compiled, and how long that takes.
Json compilerRow(Machine &machine, Builder &builder, const CancelToken &cancel)
{
    // A fresh constant each time: the answer is about the compiler, not about the cache.
    const FileTree files{
        {"kernel.cpp",
         "extern \"C\" void check(float *out) { out[0] = " + std::to_string(::getpid()) + ".0f; }\n"},
        {"plan.json", R"({"heddle": 1, "target": "cpu",
                          "steps": [{"kernel": "check", "source": "kernel.cpp", "args": [{"ptr": "out:0"}]}],
                          "outputs": [{"dtype": "float32", "shape": ["1"]}]})"}};
    const auto built = builder.build(files, Json::object(), nullptr, cancel);
    if (!built) {
        const Error &error = built.error();
        const std::string program = error.where().empty() ? std::string() : error.where() + ": ";
        return bad("compiler", program + error.message(), error.next());
    }
    const auto compiler = builder.compiler();
    if (!compiler)
        return bad("compiler", compiler.error().message(), compiler.error().next());
    const CompilerIdentity &identity = (*compiler)->identity();
    const std::string place =
        machine.spawner().rung().rung == Rung::None ? "without a sandbox" : "inside the sandbox";
    const std::string name = identity.program + " (" + identity.version + ')';
    if (!built->ok) {
        std::string why;
        for (const Json &row : built->diagnostics)
            why += (why.empty() ? " " : "; ") + stringOr(row, "message");
        return bad("compiler", name + " cannot compile a small kernel " + place + ':' + why,
                   "install g++ 12 or newer, or name another compiler by CXX or --compiler");
    }
    return good("compiler",
                name + " compiles a kernel " + place + " in "
                    + std::to_string(static_cast<int>(built->seconds * 1e3)) + " ms");
}

Json pythonRow(Machine &machine)
{
    const auto pong = machine.oracles().start();
    if (!pong)
        return bad("pytorch", pong.error().message(),
                   "set HEDDLE_PYTHON to an interpreter with torch 2.9 or newer, or run ./dev build");
    return good("pytorch", "torch " + stringOr(*pong, "torch", "?") + " in " + machine.python().string());
}

Json sandboxRow(Machine &machine)
{
    const RungReport &rung = machine.spawner().rung();
    if (rung.rung == Rung::None) {
        std::string missing =
            "no sandbox holds, and --unsandboxed asked to go on without: no verdict is clean";
        for (const std::string &reason : rung.reasons)
            missing += "; " + reason;
        return bad("sandbox", missing, "install bubblewrap and allow user namespaces, or use a newer kernel");
    }
    std::string found =
        std::string(rungName(rung.rung)) + ", Landlock version " + std::to_string(rung.landlockAbi);
    for (const std::string &reason : rung.reasons)
        found += "; " + reason;
    return good("sandbox", found);
}

/// Something that the CPU does without: not there is no fault, and said all the same.
Json optional(std::string_view id, const Error &error, const std::string &use)
{
    Json row = good(id, "");
    row["missing"] = error.message() + "; " + use;
    row["next"] = error.next();
    return row;
}

std::string architectureRange(const std::vector<int> &numbers)
{
    return numbers.empty()
        ? std::string()
        : ", for sm_" + std::to_string(numbers.front()) + " to sm_" + std::to_string(numbers.back());
}

/// NVRTC and nvdisasm, which need no GPU: a CUDA candidate can be compiled and looked at here.
void addCudaRows(Machine &machine, Builder &builder, const CancelToken &cancel, Json &rows)
{
    const CompilerLauncher launch = [&](const CompileCommand &command, const CancelToken &) {
        return builder.launch(command, cancel);
    };
    const CudaPlaces places = findCudaPlaces(sitePackagesOf(machine.python()));
    const auto program = ownFile("heddle-nvrtc");
    if (program) {
        const auto compiler = CudaCompiler::create({.program = *program,
                                                    .places = places,
                                                    .includeFolder = machine.resources() / "include",
                                                    .cacheFolder = cacheFolder() / "cubins"},
                                                   launch);
        rows.push_back(compiler ? good("nvrtc",
                                       compiler->version() + " (" + compiler->library().string() + ")"
                                           + architectureRange(compiler->architectures()))
                                : optional("nvrtc", compiler.error(), "only CUDA candidates need it"));
    } else {
        rows.push_back(bad("nvrtc", program.error().message(), program.error().next()));
    }
    const auto disassembler = Disassembler::create(places.nvdisasm, launch);
    rows.push_back(
        disassembler
            ? good("nvdisasm", disassembler->version() + " (" + disassembler->program().string() + ')')
            : optional("nvdisasm", disassembler.error(),
                       "only the machine code of CUDA candidates needs it"));
}

} // namespace

Result<Json> checkUp(Machine &machine, Builder &builder, const CancelToken &cancel)
{
    Json rows = Json::array();
    rows.push_back(compilerRow(machine, builder, cancel));
    rows.push_back(pythonRow(machine));
    rows.push_back(sandboxRow(machine));
    rows.push_back(machine.gomp().empty() ? bad("openmp",
                                                "PyTorch's own libgomp was not found: candidates would use "
                                                "another OpenMP than the baselines",
                                                "use a torch wheel from PyPI")
                                          : good("openmp", machine.gomp().string()));
    rows.push_back(good("processors",
                        std::to_string(machine.threads()) + " threads, "
                            + std::to_string(machine.memoryLimit() >> 30) + " GiB for each process"));
    addCudaRows(machine, builder, cancel, rows);
    if (cancel.stop_requested())
        return Error(Code::Cancelled, "the check-up was cancelled");
    return Json{{"rows", rows}};
}

} // namespace heddle
