// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Nvrtc.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace heddle {

namespace {

// st_other of an entry function in a cubin (cuda-gdb's sources name it STO_CUDA_ENTRY).
constexpr unsigned char entryFlag = 0x10;

template<typename T>
std::optional<T> readAt(std::string_view image, std::uint64_t offset)
{
    if (offset > image.size() || image.size() - offset < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

/// The NUL-terminated name at `offset` of the string table, or empty.
std::string nameAt(std::string_view image, const Elf64_Shdr &table, std::uint64_t offset)
{
    if (table.sh_offset > image.size() || table.sh_size > image.size() - table.sh_offset
        || offset >= table.sh_size)
        return {};
    const std::string_view rest = image.substr(table.sh_offset + offset, table.sh_size - offset);
    return std::string(rest.substr(0, rest.find('\0')));
}

} // namespace

std::vector<std::string> cubinKernels(std::string_view cubin)
{
    std::vector<std::string> names;
    const auto header = readAt<Elf64_Ehdr>(cubin, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0
        || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > cubin.size())
        return names;
    const auto section = [&](std::uint64_t index) {
        return readAt<Elf64_Shdr>(cubin, header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
        const auto symbols = section(i);
        if (!symbols)
            return names;
        if (symbols->sh_type != SHT_SYMTAB || symbols->sh_size > cubin.size()
            || symbols->sh_offset > cubin.size())
            continue;
        const auto strings = section(symbols->sh_link);
        if (!strings)
            continue;
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size; at += sizeof(Elf64_Sym)) {
            const auto symbol = readAt<Elf64_Sym>(cubin, symbols->sh_offset + at);
            if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & entryFlag) != 0)
                names.push_back(nameAt(cubin, *strings, symbol->st_name));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace heddle
