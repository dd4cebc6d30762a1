// SPDX-License-Identifier: Apache-2.0
// Any plan.json gives a plan or an Error that says where; a plan that was read is written and read again as it was;
// and resolving it for a small task ends, with arguments that stay inside their buffers.
#include "core/plan/Resolved.h"

#include <cstdint>
#include <cstdlib>

namespace {

/// Inputs and state of all three vectors at once, in small.
heddle::TaskLayout smallTask()
{
    using heddle::Dtype;
    heddle::TaskLayout layout;
    layout.inputs = {{"input:x", Dtype::Float32, {3, 2, 4}}};
    layout.state = {{"state:bias", Dtype::Float32, {2}},
                    {"state:calls", Dtype::Int64, {}},
                    {"state:cell.decay", Dtype::Float32, {4}}};
    layout.values = {{"input:scale", 0.5}};
    return layout;
}

void checkResolved(const heddle::Plan &plan)
{
    const auto resolved = heddle::resolve(plan, smallTask());
    if (!resolved) {
        if (resolved.error().message().empty())
            std::abort();
        return;
    }
    for (const heddle::ResolvedArgument &argument : resolved->arguments) {
        if (argument.buffer == heddle::ResolvedArgument::noBuffer)
            continue;
        const heddle::ResolvedBuffer &buffer = resolved->buffers.at(argument.buffer);
        if (argument.value.i64 < 0 || static_cast<std::uint64_t>(argument.value.i64) > buffer.bytes)
            std::abort();
    }
    for (const heddle::ResolvedCall &call : resolved->calls)
        if (call.step >= resolved->steps.size()
            || call.firstArgument + call.argumentCount > resolved->arguments.size())
            std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    const heddle::FileTree files{{"plan.json", text}, {"kernel.cpp", ""}, {"kernel.cu", ""}};
    const heddle::Result<heddle::Plan> plan = heddle::parsePlan(files);
    if (!plan) {
        if (plan.error().message().empty())
            std::abort();
        return 0;
    }
    const heddle::Json written = heddle::planToJson(*plan);
    const heddle::Result<heddle::Plan> again = heddle::planFromJson(written, nullptr);
    if (!again || heddle::planToJson(*again) != written)
        std::abort();
    checkResolved(*plan);
    return 0;
}
