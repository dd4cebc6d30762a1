// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/base/Result.h"
#include "core/json/Json.h"
#include "core/plan/Dtype.h"
#include "core/plan/Expression.h"
#include "core/plan/Layout.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// A parameter of the kernels that the tuner may choose: a macro when sources compile, a name in
/// expressions.
struct Tunable {
    std::int64_t defaultValue = 0;
    std::vector<std::int64_t> choices; ///< holds the default
};

/// An intermediate ("tmp:h") or an output (name "out:I").
struct PlanBuffer {
    std::string name;
    Dtype dtype = Dtype::Float32;
    std::vector<Expression> shape;
};

/// One argument of a kernel step.
struct PlanArgument {
    enum class Kind : std::uint8_t { Pointer, I64, I32, F32, F64 };
    Kind kind = Kind::Pointer;
    std::string buffer;                ///< Pointer: "input:x", "state:w", "tmp:h", "out:0"
    std::optional<Expression> offset;  ///< Pointer: in elements
    std::optional<Expression> integer; ///< I64, I32; F32 and F64 given as an integer expression
    std::optional<double> constant;    ///< F32, F64: "const:0.5"
    std::string value;                 ///< F32, F64: "input:eps", a non-tensor input
};

/// Launch shape of a CUDA step.
struct PlanLaunch {
    std::vector<Expression> grid;     ///< 1 to 3
    std::vector<Expression> block;    ///< 1 to 3
    std::vector<Expression> cluster;  ///< 0 or 1 to 3
    std::optional<Expression> shared; ///< bytes of dynamic shared memory
    bool isCooperative = false;
    std::int64_t stream = 0;
};

/// A call of one kernel. `number` counts kernel steps in document order, depth first.
struct KernelStep {
    std::uint32_t number = 0;
    std::string where; ///< "steps[1].repeat.steps[0]", for messages
    std::string kernel;
    std::string source;
    std::vector<PlanArgument> args;
    PlanLaunch launch; ///< CUDA only
};

struct PlanStep;

/// Steps run `count` times with `index` = 0, 1, …
struct RepeatStep {
    Expression count = Expression::constant(0);
    std::string index;
    std::vector<PlanStep> steps;
};

/// A kernel or a repeat; exactly one is set.
struct PlanStep {
    std::optional<Expression> when; ///< the step is left out where this is 0
    std::optional<KernelStep> kernel;
    std::optional<RepeatStep> repeat;
};

/// A launch plan as parsed: structure, names and expressions are valid, nothing is evaluated yet.
struct Plan {
    PlanTarget target = PlanTarget::Cpu;
    std::map<std::string, Expression> symbols;
    std::map<std::string, Tunable> tunables;
    std::vector<PlanBuffer> buffers;
    std::vector<std::string> updates;
    std::vector<PlanStep> steps;
    std::vector<PlanBuffer> outputs;
    std::vector<std::string> sources; ///< files that steps name, each once, in order of appearance
};

/// Reads and checks plan.json of a candidate. Errors: NotFound without plan.json; InvalidInput with
/// `where` = "plan.json: steps[2].args[0]" (or "plan.json:LINE" for broken JSON), the step's number and
/// kernel in the message, and what was expected in `next`.
Result<Plan> parsePlan(const FileTree &files);
/// The same from a JSON value. With `files` null the sources are not looked for (an executor has none).
Result<Plan> planFromJson(const Json &value, const FileTree *files);
/// The plan as JSON; planFromJson(planToJson(p)) is equal to p.
Json planToJson(const Plan &plan);

/// All kernel steps in document order, depth first; pointers into `plan`.
std::vector<const KernelStep *> kernelSteps(const Plan &plan);

/// Values of all symbols and tunables. Names in `tunables` override defaults. Errors: InvalidInput for an
/// unknown name or reference (with those that exist), a cycle (naming it), overflow, division by zero, a
/// tunable's value that is not among its choices.
Result<std::map<std::string, std::int64_t>> buildSymbols(const Plan &plan, const TaskLayout &layout,
                                                         const std::map<std::string, std::int64_t> &tunables);

/// The value of `input:x.shape[0]`, `state:w.shape[1]` or `input:k` in a layout. Errors: InvalidInput.
Result<std::int64_t> layoutValue(const TaskLayout &layout, std::string_view reference);

} // namespace heddle
