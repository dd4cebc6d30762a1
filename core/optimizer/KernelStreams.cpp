// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

namespace heddle {

/// Rows that go around the caches are gathered first: `target` is that array, or the row itself.
void KernelWriter::declareStreams(const std::vector<const KernelStore *> &stores)
{
    const int axis = m_kernel.spaces[0].empty() ? -1 : m_kernel.spaces[0].back();
    for (const KernelStore *store : stores) {
        const int number = static_cast<int>(store - m_kernel.stores.data());
        if (!m_schedule.streamed.contains(number))
            continue;
        const std::string size =
            m_schedule.splitsInner ? "CHUNK" + suffix() : std::to_string(m_kernel.extent(axis));
        const std::string block = m_names.local("stream_block");
        const std::string target = m_names.local("stream_target");
        const std::string from = m_schedule.splitsInner ? "chunk" : "0";
        Affine rest = store->index;
        rest.addTerm(axis, -1);
        const std::string inner = m_names.innerPart(rest);
        const std::string row = m_names.rowPointer(store->buffer, store->index) + " + " + from
            + (inner == "0" ? "" : " + " + inner);
        m_out.line("alignas(64) float " + block + "[" + streamMacro() + " ? " + size + " : 1];");
        m_out.line("float *const " + target + " = " + streamMacro() + " ? " + block + " : " + row + ";");
        m_streams[number] = {block, target, row};
        m_written.tunables[streamMacro()] = {m_schedule.streamsAtFirst ? 1 : 0, {0, 1}};
    }
}

void KernelWriter::writeStreams(const std::vector<const KernelStore *> &stores)
{
    std::vector<std::string> lines;
    const int axis = m_kernel.spaces[0].empty() ? -1 : m_kernel.spaces[0].back();
    for (const KernelStore *store : stores) {
        const auto stream = m_streams.find(static_cast<int>(store - m_kernel.stores.data()));
        if (stream == m_streams.end())
            continue;
        const std::string count =
            m_schedule.splitsInner ? "chunk_end - chunk" : std::to_string(m_kernel.extent(axis));
        lines.push_back("heddle::stream_copy(" + stream->second.row + ", " + stream->second.block + ", "
                        + count + ");");
    }
    if (lines.empty())
        return;
    m_out.open("if (" + streamMacro() + ")");
    for (const std::string &line : lines)
        m_out.line(line);
    if (m_fenceDepth == 0)
        m_out.line("heddle::stream_fence();");
    m_out.close();
    m_streams.clear();
}

void KernelWriter::storeInner(const KernelStore &store)
{
    const std::string value = innerValue(store.value);
    if (const auto stream = m_streams.find(static_cast<int>(&store - m_kernel.stores.data()));
        stream != m_streams.end()) {
        const std::string &axis = m_names.axis(m_kernel.spaces[0].back());
        m_out.line(stream->second.target + "[" + axis + (m_schedule.splitsInner ? " - chunk" : "")
                   + "] = " + value + ";");
        return;
    }
    m_out.line(pointerTo(store.buffer, store.index) + " = " + value + ";");
}

} // namespace heddle
