// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelText.h"

namespace heddle {

void KernelWriter::describe()
{
    std::string text = "Fuses " + operatorList(m_kernel) + ". ";
    const std::string points = std::to_string(m_kernel.outerCount());
    if (m_kernel.reductions.empty())
        text += "One pass over memory, nothing kept between elements.";
    else
        text += "For each of " + points + " outer points, " + std::to_string(m_kernel.stages)
            + " passes over a row, from the caches where they hold it.";
    if (!m_schedule.kept.empty())
        text += " Costly values are kept in a small array between passes instead of computed again.";
    if (hasLanes())
        text += " Vector lanes run over neighbouring outer points, where memory is contiguous.";
    if (m_schedule.splitsStages)
        text += " There are few outer points, so threads share each pass.";
    m_out.comment(text);
}

void KernelWriter::writeConstants()
{
    for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) {
        const KernelBuffer &buffer = m_kernel.buffers[b];
        if (!buffer.name.starts_with("const:"))
            continue;
        const std::vector<double> &data =
            m_constants[static_cast<std::size_t>(std::stoul(buffer.name.substr(6)))];
        std::string row = "static const " + memoryType(buffer.type.dtype) + " "
            + m_names.parameter(static_cast<int>(b)) + "[" + std::to_string(data.size()) + "] = {";
        for (std::size_t i = 0; i < data.size(); ++i) {
            const std::string item =
                cppLiteral(buffer.type.dtype, data[i], static_cast<std::int64_t>(data[i]));
            if (row.size() + item.size() > 96) {
                m_out.line(row);
                row = "   ";
            }
            row += (i ? " " : "") + item + (i + 1 < data.size() ? "," : "");
        }
        m_out.line(row + "};");
        m_out.blank();
    }
}

void KernelWriter::writeHeader()
{
    describe();
    std::string signature = "extern \"C\" void " + m_kernel.name + "(";
    bool isFirst = true;
    for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) {
        const KernelBuffer &buffer = m_kernel.buffers[b];
        const bool isConst = !m_kernel.writes(static_cast<int>(b));
        if (buffer.name.starts_with("const:") || (isConst && !m_kernel.reads(static_cast<int>(b))))
            continue;
        const std::string parameter = (isConst ? "const " : "") + memoryType(buffer.type.dtype)
            + " *HEDDLE_RESTRICT " + m_names.parameter(static_cast<int>(b));
        signature += (isFirst ? "" : ", ");
        isFirst = false;
        if (signature.size() + parameter.size() > 96) {
            if (signature.ends_with(" "))
                signature.pop_back();
            m_out.line(signature);
            signature = "    ";
        }
        signature += parameter;
        m_written.arguments.push_back(buffer.name);
    }
    m_out.line(signature + ")");
    m_out.open("");
}

Result<WrittenKernel> KernelWriter::run()
{
    writeConstants();
    writeHeader();
    openOuterLoops();
    writeRowPointers();
    for (int stage = 0; stage < m_kernel.stages; ++stage)
        writeStage(stage);
    if (m_fenceDepth > 0) {
        closeTo(m_fenceDepth);
        m_out.open("if (" + streamMacro() + ")");
        m_out.line("heddle::stream_fence();");
    }
    closeTo(0);
    if (!m_unknownOperation.empty())
        return Error(Code::NotCovered,
                     "not covered: the operation " + m_unknownOperation + " has no C++ form.", m_kernel.name,
                     "Write a candidate by hand.");
    m_written.text = m_out.text();
    return std::move(m_written);
}

Result<WrittenKernel> writeKernel(Kernel kernel, std::size_t number,
                                  const std::vector<std::vector<double>> &constants)
{
    return KernelWriter(std::move(kernel), constants, number).run();
}

} // namespace heddle
