// SPDX-License-Identifier: Apache-2.0
// Any plan.json gives a plan or an Error that says where; a plan that was read is written and read again as it was.
#include "core/plan/Plan.h"

#include <cstdint>
#include <cstdlib>

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
    return 0;
}
