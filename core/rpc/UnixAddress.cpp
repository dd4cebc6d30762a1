// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/UnixAddress.h"

#include <sys/socket.h>

#include <cstring>

namespace heddle {

Result<sockaddr_un> unixAddress(const std::filesystem::path &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = path.string();
    if (name.size() >= sizeof address.sun_path)
        return Error(Code::InvalidInput, "the path of the socket is longer than 107 bytes", name,
                     "set XDG_RUNTIME_DIR to a shorter folder");
    std::memcpy(address.sun_path, name.data(), name.size());
    return address;
}

} // namespace heddle
