// SPDX-License-Identifier: Apache-2.0
// What compilers and disassemblers leave behind for strangers' sources: logs, machine code as text, cubins, answers. Any bytes
// are read without a crash, and what was not said is not made up.
#include "core/compile/Cubin.h"
#include "core/compile/Diagnostic.h"
#include "core/compile/Disassembler.h"
#include "core/compile/NvrtcJob.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char *>(data), size);
    for (const heddle::Diagnostic &item : heddle::parseDiagnostics(bytes, "src/"))
        if (item.line < 0 || item.column < 0)
            std::abort();
    for (const auto &[name, use] : heddle::resourcesFromLog(bytes))
        if (use.registers.value_or(0) < 0 || use.spillStoreBytes.value_or(0) < 0)
            std::abort();
    for (const heddle::SassKernel &kernel : heddle::parseSass(bytes))
        if (!kernel.lines.empty() && !kernel.lines.back().offset)
            std::abort(); // a label that nothing follows
    if (heddle::cubinKernels(bytes).empty() && !heddle::cubinResources(bytes).empty())
        std::abort();
    if (const auto answer = heddle::decodeAnswer(bytes)) {
        const auto again = heddle::decodeAnswer(heddle::encodeAnswer(*answer));
        if (!again || again->products.size() != answer->products.size())
            std::abort();
    }
    return 0;
}
