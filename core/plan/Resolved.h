// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"
#include "core/plan/Dtype.h"
#include "core/plan/Layout.h"
#include "core/plan/Plan.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// One argument of a kernel as the generated trampolines read it (docs/architecture/plan.md).
union heddle_arg {
    void *ptr;
    std::int64_t i64;
    std::int32_t i32;
    float f32;
    double f64;
};

namespace heddle {

enum class BufferKind : std::uint8_t { Input, State, Scratch, Output };

/// A buffer with its concrete size. `indexInKind` is its place among inputs, state tensors (both in
/// the layout's order), scratch buffers or outputs (in the plan's order).
struct ResolvedBuffer {
    std::string name;
    BufferKind kind = BufferKind::Scratch;
    std::uint32_t indexInKind = 0;
    Dtype dtype = Dtype::Float32;
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0; ///< may be 0 for an empty tensor
    bool isWritable = false; ///< scratch, outputs, and state listed in `updates`
};

/// A kernel step: steps are numbered in document order, depth first, so steps[i].number == i.
struct ResolvedStep {
    std::uint32_t number = 0;
    std::string kernel;     ///< the extern "C" name in its source
    std::string source;     ///< file of the candidate
    std::string trampoline; ///< "heddle_step_<number>" (CPU only)
};

/// One argument: a literal, or a byte offset from the start of a buffer.
struct ResolvedArgument {
    static constexpr std::uint32_t noBuffer = 0xFFFFFFFFu;
    std::uint32_t buffer = noBuffer; ///< index into ResolvedPlan::buffers, or noBuffer
    heddle_arg value{};              ///< i64 is the byte offset where `buffer` is set
};

/// Launch shape of a CUDA call.
struct ResolvedLaunch {
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    std::array<std::int64_t, 3> cluster{1, 1, 1};
    std::int64_t sharedBytes = 0;
    std::int64_t stream = 0;
    bool isCooperative = false;
};

/// One call, in execution order, conditions applied and repeats unrolled.
struct ResolvedCall {
    std::uint32_t step = 0;          ///< index into steps
    std::uint32_t firstArgument = 0; ///< index into arguments
    std::uint32_t argumentCount = 0;
    std::uint32_t launch = 0; ///< index into launches (CUDA only)
};

/// A plan made concrete for one layout and one choice of tunables: flat arrays that an executor walks
/// without looking anything up. Immutable plain data; may be shared between threads. In one call:
///
///     for (const ResolvedCall &call : plan.calls) {
///         fillArguments(plan, call, bases, scratch.data());
///         trampolines[call.step](scratch.data());
///     }
///
/// where bases[i] is the address of buffers[i] in this call and scratch has maxArguments elements.
struct ResolvedPlan {
    PlanTarget target = PlanTarget::Cpu;
    std::vector<ResolvedBuffer> buffers; ///< inputs, state, scratch, outputs, in this order
    std::uint32_t inputCount = 0;
    std::uint32_t stateCount = 0;
    std::uint32_t scratchCount = 0;
    std::uint32_t outputCount = 0;
    std::vector<std::uint32_t> updates; ///< buffers (kind State) that the plan writes, layout order
    std::vector<ResolvedStep> steps;
    std::vector<ResolvedCall> calls;
    std::vector<ResolvedArgument> arguments;
    std::vector<ResolvedLaunch> launches;
    std::uint32_t maxArguments = 0;
    std::uint64_t scratchBytes = 0;              ///< sum over scratch buffers
    std::map<std::string, std::int64_t> symbols; ///< symbols and tunables with their values

    std::uint32_t firstState() const { return inputCount; }
    std::uint32_t firstScratch() const { return inputCount + stateCount; }
    std::uint32_t firstOutput() const { return inputCount + stateCount + scratchCount; }
};

/// Most calls that one plan may make; more is an error that names the repeat.
inline constexpr std::size_t maxCallsPerPlan = std::size_t{1} << 18;

/// Writes the arguments of `call` into `out`. `bases` has one address for each buffer of the plan.
/// Costs a few nanoseconds an argument; allocates nothing.
inline void fillArguments(const ResolvedPlan &plan, const ResolvedCall &call, void *const *bases,
                          heddle_arg *out)
{
    const ResolvedArgument *argument = plan.arguments.data() + call.firstArgument;
    for (std::uint32_t i = 0; i < call.argumentCount; ++i, ++argument) {
        if (argument->buffer == ResolvedArgument::noBuffer)
            out[i] = argument->value;
        else
            out[i].ptr = static_cast<char *>(bases[argument->buffer]) + argument->value.i64;
    }
}

/// Evaluates every expression of `plan` for `layout`. `tunables` overrides defaults (names of the plan
/// only, values among the choices). Checks: names exist, shapes are not negative, outputs agree with the
/// layout's where it has any (dtype and shape), updates agree with the layout's, offsets stay within
/// their buffers, launch shapes are within CUDA's limits. Errors: InvalidInput with `where` =
/// "plan.json: steps[2].args[0].offset" and a remedy.
Result<ResolvedPlan> resolve(const Plan &plan, const TaskLayout &layout,
                             const std::map<std::string, std::int64_t> &tunables = {});

} // namespace heddle
