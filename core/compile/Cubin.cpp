// SPDX-License-Identifier: Apache-2.0
#include "core/compile/Cubin.h"

#include "core/compile/Occupancy.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace heddle {

namespace {

// st_other of an entry function in a cubin (cuda-gdb's sources name it STO_CUDA_ENTRY).
constexpr unsigned char entryFlag = 0x10;
// Attributes of a section .nv.info, by the names that nvdisasm prints: a byte of format, a byte of attribute, 16 bits.
constexpr unsigned char sizedFormat = 0x04; // EIFMT_SVAL: the 16 bits are the size of what follows
constexpr unsigned char registerCount = 0x2f;
constexpr unsigned char frameSize = 0x11;
constexpr unsigned char mostThreads = 0x05; // three words, in a section .nv.info.<kernel>

template<typename T>
std::optional<T> readAt(std::string_view image, std::uint64_t offset)
{
    if (offset > image.size() || image.size() - offset < sizeof(T))
        return std::nullopt;
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

/// A cubin as sections; every offset is checked.
class Sections {
public:
    explicit Sections(std::string_view image) : m_image(image)
    {
        const auto header = readAt<Elf64_Ehdr>(image, 0);
        if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0
            || header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > image.size())
            return;
        for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
            const auto section = readAt<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr));
            if (!section)
                return;
            m_all.push_back(*section);
        }
        m_names = header->e_shstrndx;
    }

    const std::vector<Elf64_Shdr> &all() const { return m_all; }
    std::string nameOf(const Elf64_Shdr &section) const { return text(m_names, section.sh_name); }
    /// The bytes of a section; empty where they are outside the image.
    std::string_view bytesOf(const Elf64_Shdr &section) const
    {
        if (section.sh_type == SHT_NOBITS || section.sh_offset > m_image.size()
            || section.sh_size > m_image.size() - section.sh_offset)
            return {};
        return m_image.substr(section.sh_offset, section.sh_size);
    }
    /// The NUL-terminated text at `offset` of the string table `index`, or empty.
    std::string text(std::uint64_t index, std::uint64_t offset) const
    {
        const std::string_view table = index < m_all.size() ? bytesOf(m_all[index]) : std::string_view();
        if (offset >= table.size())
            return {};
        const std::string_view rest = table.substr(offset);
        return std::string(rest.substr(0, rest.find('\0')));
    }
    /// Calls `visit(index, name)` for each function that is an entry.
    template<typename Visit>
    void forEachKernel(const Visit &visit) const
    {
        for (const Elf64_Shdr &section : m_all) {
            if (section.sh_type != SHT_SYMTAB)
                continue;
            const std::string_view symbols = bytesOf(section);
            for (std::uint64_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= symbols.size(); ++i) {
                const auto symbol = readAt<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
                if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & entryFlag) != 0)
                    visit(i, text(section.sh_link, symbol->st_name));
            }
        }
    }

private:
    std::string_view m_image;
    std::vector<Elf64_Shdr> m_all;
    std::uint64_t m_names = 0;
};

/// Calls `visit(attribute, payload)` for each attribute with a size of its own.
template<typename Visit>
void forEachAttribute(std::string_view info, const Visit &visit)
{
    for (std::uint64_t at = 0; at + 4 <= info.size();) {
        const auto format = static_cast<unsigned char>(info[at]);
        const auto attribute = static_cast<unsigned char>(info[at + 1]);
        const std::uint64_t size = format == sizedFormat ? *readAt<std::uint16_t>(info, at + 2) : 0;
        if (format == sizedFormat && size <= info.size() - at - 4)
            visit(attribute, info.substr(at + 4, size));
        at += 4 + size;
    }
}

/// Registers and stack: of a function by the index of its symbol.
void readGlobalInfo(std::string_view info, const std::map<std::uint64_t, std::string> &bySymbol,
                    std::map<std::string, ResourceUse> &uses)
{
    forEachAttribute(info, [&](unsigned char attribute, std::string_view payload) {
        const auto symbol = readAt<std::uint32_t>(payload, 0);
        const auto value = readAt<std::uint32_t>(payload, 4);
        const auto found = symbol && value ? bySymbol.find(*symbol) : bySymbol.end();
        if (found == bySymbol.end())
            return;
        if (attribute == registerCount)
            uses[found->second].registers = *value;
        else if (attribute == frameSize)
            uses[found->second].stackBytes = *value;
    });
}

/// The bounds that a kernel was compiled for.
std::int64_t maxThreadsIn(std::string_view info)
{
    std::int64_t threads = MultiprocessorLimits::threadsPerBlock;
    forEachAttribute(info, [&](unsigned char attribute, std::string_view payload) {
        const auto x = readAt<std::uint32_t>(payload, 0);
        const auto y = readAt<std::uint32_t>(payload, 4);
        const auto z = readAt<std::uint32_t>(payload, 8);
        // More in one direction than any block has is no bound.
        if (attribute == mostThreads && x && y && z && *x <= 1024 && *y <= 1024 && *z <= 1024)
            threads = std::min(threads, std::int64_t{*x} * *y * *z);
    });
    return threads;
}

/// The kernel's name where `section` is "<prefix><name>".
std::optional<std::string> ownerOf(const std::string &section, std::string_view prefix)
{
    return section.starts_with(prefix) ? std::optional(section.substr(prefix.size())) : std::nullopt;
}

} // namespace

std::vector<std::string> cubinKernels(std::string_view cubin)
{
    std::vector<std::string> names;
    Sections(cubin).forEachKernel([&](std::uint64_t, std::string name) { names.push_back(std::move(name)); });
    std::sort(names.begin(), names.end());
    return names;
}

std::map<std::string, ResourceUse> cubinResources(std::string_view cubin)
{
    const Sections sections(cubin);
    std::map<std::string, ResourceUse> uses;
    std::map<std::uint64_t, std::string> bySymbol;
    sections.forEachKernel([&](std::uint64_t index, const std::string &name) {
        uses[name];
        bySymbol[index] = name;
    });
    for (const Elf64_Shdr &section : sections.all()) {
        const std::string name = sections.nameOf(section);
        const auto size = static_cast<std::int64_t>(section.sh_size);
        // Not .nv.shared.…: from sm_90 on it counts the KiB that the system takes as well.
        if (const auto owner = ownerOf(name, ".text."); owner && uses.count(*owner) != 0)
            uses[*owner].codeBytes = size;
        else if (const auto user = ownerOf(name, ".nv.constant0."); user && uses.count(*user) != 0)
            uses[*user].constantBytes = size;
        else if (const auto bound = ownerOf(name, ".nv.info."); bound && uses.count(*bound) != 0)
            uses[*bound].maxThreads = maxThreadsIn(sections.bytesOf(section));
        else if (name == ".nv.info")
            readGlobalInfo(sections.bytesOf(section), bySymbol, uses);
    }
    return uses;
}

} // namespace heddle
