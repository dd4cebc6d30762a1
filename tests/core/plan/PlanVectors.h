// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/plan/Plan.h"
#include "core/plan/Resolved.h"

#include <gtest/gtest.h>

namespace heddle::testing {

/// A candidate of resources/plans.
inline FileTree vectorFiles(const std::string &name, const std::string &target)
{
    auto files = readTree(std::string(HEDDLE_SOURCE_DIR) + "/resources/plans/" + name + '/' + target);
    EXPECT_TRUE(files) << files.error().text();
    return files ? *files : FileTree();
}

/// The layout that the oracle reports for the task of that vector, with its default sizes.
inline TaskLayout vectorLayout(const std::string &name)
{
    TaskLayout layout;
    if (name == "bias_gelu") {
        layout.inputs = {{"input:x", Dtype::Float32, {64, 96}}};
        layout.state = {{"state:bias", Dtype::Float32, {96}}};
        layout.outputs = {{"out:0", Dtype::Float32, {64, 96}}};
    } else if (name == "row_softmax") {
        layout.inputs = {{"input:x", Dtype::Float32, {48, 200}}};
        layout.values = {{"input:scale", 0.125}};
        layout.outputs = {{"out:0", Dtype::Float32, {48, 200}}};
    } else {
        layout.inputs = {{"input:x", Dtype::Float32, {12, 4, 40}}};
        layout.state = {{"state:calls", Dtype::Int64, {}}, {"state:cell.decay", Dtype::Float32, {40}}};
        layout.outputs = {{"out:0", Dtype::Float32, {12, 4, 40}}, {"out:1", Dtype::Float32, {4, 40}}};
        layout.updates = {"state:calls"};
    }
    return layout;
}

inline const std::vector<std::string> &vectorNames()
{
    static const std::vector<std::string> names = {"bias_gelu", "row_softmax", "repeat_scan"};
    return names;
}

} // namespace heddle::testing
