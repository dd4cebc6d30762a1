// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/Plan.h"

#include <initializer_list>
#include <set>

namespace heddle {

/// Turns the JSON of one plan into a Plan; used by planFromJson() alone. Reads the members in the order
/// in which names must be known: symbols and tunables, buffers, outputs, updates, steps.
class PlanReader {
public:
    PlanReader(const Json &root, const FileTree *files) : m_root(root), m_files(files) {}
    Result<Plan> read();

private:
    Result<void> readSymbols();
    Result<void> readTunables();
    Result<void> readBuffers();
    Result<void> readOutputs();
    Result<void> readUpdates();
    Result<std::vector<PlanStep>> readSteps(const Json &list, const std::string &where);
    Result<PlanStep> readStep(const Json &value, const std::string &where);
    Result<RepeatStep> readRepeat(const Json &value, const std::string &where);
    Result<KernelStep> readKernel(const Json &value, const std::string &where);
    Result<PlanArgument> readArgument(const Json &value, const std::string &where);
    Result<void> readPointer(const Json &value, const std::string &where, PlanArgument &argument);
    Result<void> readFloat(const Json &value, const std::string &where, PlanArgument &argument);
    Result<void> readLaunch(const Json &value, const std::string &where, PlanLaunch &launch);
    Result<std::vector<Expression>> readTriple(const Json &value, const std::string &where);
    Result<PlanBuffer> readBuffer(const Json &value, const std::string &where, std::string name);
    /// A string or integer as an expression whose names are known here.
    Result<Expression> readExpression(const Json &value, const std::string &where);
    Result<void> checkNames(const Expression &expression, const std::string &where) const;
    Result<void> checkNewName(const std::string &name, const std::string &where, const char *what) const;
    Result<void> checkMembers(const Json &value, const std::string &where,
                              std::initializer_list<std::string_view> allowed) const;
    Error bad(const std::string &where, std::string message, std::string next) const;

    const Json &m_root;
    const FileTree *m_files;
    Plan m_plan;
    std::set<std::string> m_names;      ///< symbols and tunables
    std::vector<std::string> m_indices; ///< of the enclosing repeats
    std::uint32_t m_nextStep = 0;
    std::string m_step; ///< "step 2 (row_norm): " while in one
};

} // namespace heddle
