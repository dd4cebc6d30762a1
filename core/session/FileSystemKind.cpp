// SPDX-License-Identifier: Apache-2.0
#include "core/session/FileSystemKind.h"

#include <sys/vfs.h>

#include <cstdint>

namespace heddle {

std::string_view remoteFileSystemName(const std::filesystem::path &path)
{
    struct statfs info{};
    if (::statfs(path.c_str(), &info) != 0)
        return {};
    switch (static_cast<std::uint32_t>(info.f_type)) {
    case 0x6969: return "nfs";
    case 0xFF534D42:
    case 0xFE534D42:
    case 0x517B: return "cifs";
    case 0x01021997: return "9p";
    case 0x65735546: return "fuse";
    case 0x73757245: return "coda";
    case 0x5346414F: return "afs";
    case 0x00C36400: return "ceph";
    case 0x0BD00BD0: return "lustre";
    case 0x47504653: return "gpfs";
    case 0x786F4256: return "vboxsf";
    default: return {};
    }
}

} // namespace heddle
