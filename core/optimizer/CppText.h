// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/optimizer/Kernel.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// The C++ type of a scalar of this dtype in a kernel's body: "float", "heddle::bfloat16".
std::string cppType(Dtype dtype);
/// The same in memory: booleans as bytes, which g++ vectorises where it gives up on bool.
std::string memoryType(Dtype dtype);
/// A literal of that type; infinities and NaN included.
std::string cppLiteral(Dtype dtype, double number, std::int64_t integer);
/// A float32 function of the C library in place of heddle_cpu.h's, where there is one.
std::optional<std::string> preciseOperation(std::string_view op, const std::vector<std::string> &args);
/// The operation as C++ over the texts of its arguments. `argument` is the dtype of the first one and
/// `isLiteral` says whether the second one is a literal. Nothing for an unknown word.
std::optional<std::string> cppOperation(std::string_view op, Dtype result, Dtype argument,
                                        const std::vector<std::string> &args, bool isLiteral);
/// A float32 division by a constant (a float32 number) as multiplications, to the last bit but for rare
/// cases; nothing where the quotient could leave the range of normal numbers.
std::optional<std::string> cppDivision(double divisor, const std::string &dividend);
std::string cppCast(Dtype to, Dtype from, const std::string &text);
/// Whether computing it again costs more than reading it back from a cache line.
bool isExpensive(std::string_view op);

/// Source text with indentation by braces.
class CppText {
public:
    void line(const std::string &text);
    void open(const std::string &text); ///< text + " {", or an open brace
    void close(const std::string &after = {});
    void comment(const std::string &text); ///< wrapped at 100 columns
    void pragma(const std::string &text);  ///< at the margin
    void blank() { m_text += "\n"; }
    const std::string &text() const { return m_text; }
    void setDepth(int depth) { m_depth = depth; }
    int depth() const { return m_depth; }
    void append(const std::string &text) { m_text += text; }

private:
    std::string m_text;
    int m_depth = 0;
};

} // namespace heddle
