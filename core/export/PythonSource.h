// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// A statement's lines in Python source: what brackets, triple quotes and backslashes hold together.
struct PythonLine {
    std::size_t begin = 0; ///< byte offset of its first character (of the indentation)
    std::size_t end = 0;   ///< past its newline
    int indent = 0;        ///< columns, a tab counted to the next multiple of 8
    bool isCode = false;   ///< not blank and not a comment alone
};

/// Python text seen as logical lines: enough to cut, rename and read headers of top-level definitions
/// without running it. Not a parser: the text is known to be Python, since the oracle has run it.
class PythonSource {
public:
    explicit PythonSource(std::string text);

    const std::string &text() const { return m_text; }
    /// The text with strings and comments blanked, byte for byte as long.
    const std::string &code() const { return m_code; }
    const std::vector<PythonLine> &lines() const { return m_lines; }

    /// Half-open range of lines of the top-level `class NAME` or `def NAME` with its decorators and body.
    struct Block {
        std::size_t first = 0; ///< its decorators, or its header
        std::size_t header = 0;
        std::size_t last = 0; ///< past its last code line
    };
    bool find(std::string_view keyword, std::string_view name, std::size_t from, std::size_t to, int indent,
              Block &block) const;

private:
    void scan();
    std::string m_text;
    std::string m_code;
    std::vector<PythonLine> m_lines;
};

/// Whether the top of the file binds the name: by class, def, import or assignment.
bool definesName(const std::string &source, std::string_view name);

/// A task's file split for an export.
struct ReferenceSource {
    std::string text;                    ///< the file with Model renamed to _Reference, its forward and
                                         ///< get_inputs / get_init_inputs left out
    std::string future;                  ///< its `from __future__` lines, which must stay the first of a file
    std::string forwardHeader;           ///< "def forward(self, x: torch.Tensor) -> torch.Tensor:"
    std::string self;                    ///< name of its first parameter
    std::vector<std::string> parameters; ///< the others that take one value
    std::string variadic;                ///< of "*args", or empty
    std::string keywords;                ///< of "**kwargs", or empty
};

/// Errors: NotCovered where Model is not a class statement at the top of the file with its own forward.
Result<ReferenceSource> splitTask(const std::string &taskSource);

} // namespace heddle
