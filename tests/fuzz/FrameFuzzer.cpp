// SPDX-License-Identifier: Apache-2.0
// Any bytes of a child on its channel give frames or an Error; the channel neither hangs nor grows without bound.
#include "core/rpc/FrameChannel.h"

#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    auto pair = heddle::FrameChannel::createPair();
    if (!pair)
        std::abort();
    auto &[channel, child] = *pair;
    // What does not fit into the socket's buffer is left out: nobody reads while we write.
    if (size > 0 && ::send(child.value(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return 0;
    child = heddle::Fd();
    heddle::CallOptions options;
    options.timeout = std::chrono::seconds(5);
    for (std::size_t frames = 0;; ++frames) {
        const heddle::Result<heddle::Frame> frame = channel.receive(options);
        if (!frame) {
            if (frame.error().code() == heddle::Code::TimedOut)
                std::abort(); // the other side is closed: there is nothing to wait for
            return 0;
        }
        if (frames > size)
            std::abort();
    }
}
