// SPDX-License-Identifier: Apache-2.0
// Any bytes give a value or an Error; what was read is written and read again without a change.
#include "core/json/Json.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const heddle::Result<heddle::Json> value = heddle::parseJson(text, "fuzz");
    if (!value)
        return 0;
    const std::string written = heddle::compactText(*value);
    const heddle::Result<heddle::Json> again = heddle::parseJson(written, "fuzz");
    // Invalid UTF-8 is replaced when written, so it is the second text that must stay as it is.
    if (!again || heddle::compactText(*again) != written)
        std::abort();
    // A child's error is read from whatever it sent, and has a code that can be named.
    const heddle::Code code = heddle::errorFromJson(*value).code();
    if (heddle::codeFromName(heddle::codeName(code)) != code)
        std::abort();
    return 0;
}
