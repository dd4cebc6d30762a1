// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json/Json.h"

#include <string>
#include <utility>
#include <vector>

namespace heddle::test {

/// Builds captured graphs for tests: each call names a node and gives its JSON reference.
class GraphText {
public:
    Json input(const std::string &node, std::vector<std::int64_t> shape, const std::string &dtype = "float32")
    {
        m_graph["inputs"].push_back(
            {{"node", node}, {"name", "input:" + node}, {"dtype", dtype}, {"shape", shape}});
        return {{"ref", node}};
    }
    Json state(const std::string &node, std::vector<std::int64_t> shape, const std::string &dtype = "float32")
    {
        m_graph["state"].push_back({{"node", node},
                                    {"name", "state:" + node},
                                    {"kind", "buffer"},
                                    {"dtype", dtype},
                                    {"shape", shape}});
        return {{"ref", node}};
    }
    Json node(const std::string &op, Json args, std::vector<std::int64_t> shape,
              const std::string &dtype = "float32")
    {
        return results(op, std::move(args), {{"dtype", dtype}, {"shape", shape}});
    }
    Json results(const std::string &op, Json args, Json out)
    {
        const std::string name = m_prefix + std::to_string(m_graph["nodes"].size());
        m_graph["nodes"].push_back({{"name", name},
                                    {"op", op},
                                    {"args", std::move(args)},
                                    {"kwargs", Json::object()},
                                    {"out", std::move(out)},
                                    {"module", ""}});
        return {{"ref", name}};
    }
    void output(const Json &reference) { m_graph["outputs"].push_back(reference["ref"]); }
    void update(const std::string &state, const Json &reference, std::int64_t index = 0)
    {
        m_graph["updates"].push_back(
            {{"state", "state:" + state}, {"node", reference["ref"]}, {"index", index}});
    }
    /// How later nodes are named; nothing may depend on it.
    void setPrefix(std::string prefix) { m_prefix = std::move(prefix); }
    const Json &json() const { return m_graph; }

private:
    Json m_graph = {{"source", "export"},       {"inputs", Json::array()},    {"values", Json::array()},
                    {"state", Json::array()},   {"constants", Json::array()}, {"nodes", Json::array()},
                    {"outputs", Json::array()}, {"updates", Json::array()}};
    std::string m_prefix = "n";
};

} // namespace heddle::test
