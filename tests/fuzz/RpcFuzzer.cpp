// SPDX-License-Identifier: Apache-2.0
// Any line from a client or a worker gives a message or an Error of code Protocol, never anything else.
#include "core/rpc/LineStream.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view line(reinterpret_cast<const char *>(data), size);
    const heddle::Result<heddle::RpcMessage> message = heddle::parseRpcMessage(line);
    if (!message && message.error().code() != heddle::Code::Protocol)
        std::abort();
    return 0;
}
