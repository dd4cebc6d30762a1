// SPDX-License-Identifier: Apache-2.0
#include "core/export/Python.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace heddle {

namespace {

std::string escaped(const std::string &text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (c == '\n')
            out += "\\n";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            std::array<char, 8> code{};
            std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned>(c));
            out += code.data();
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::vector<std::string> parts(const std::string &path)
{
    std::vector<std::string> out;
    std::size_t start = 0;
    while (true) {
        const std::size_t dot = path.find('.', start);
        out.push_back(path.substr(start, dot == std::string::npos ? dot : dot - start));
        if (dot == std::string::npos)
            return out;
        start = dot + 1;
    }
}

bool isNumber(const std::string &text)
{
    return !text.empty()
        && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> resultAt(const Json &node, const std::string &path, const Json &outputs)
{
    if (node.is_string() && node == "tensor") {
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (stringOr(outputs[i], "path") == path)
                return "out" + std::to_string(i);
        return Error(Code::NotCovered,
                     "the result of forward has a tensor that is not in the list of outputs", path);
    }
    const std::string prefix = path.empty() ? std::string() : path + '.';
    if (node.is_null())
        return std::string("None");
    if (node.is_array()) {
        std::string out = "(";
        for (std::size_t i = 0; i < node.size(); ++i) {
            HEDDLE_TRY(const std::string item, resultAt(node[i], prefix + std::to_string(i), outputs));
            out += (i == 0 ? "" : ", ") + item;
        }
        return out + (node.size() == 1 ? ",)" : ")");
    }
    if (node.is_object()) {
        std::string out = "{";
        for (const auto &[key, value] : node.items()) {
            HEDDLE_TRY(const std::string item, resultAt(value, prefix + key, outputs));
            out += (out.size() == 1 ? "" : ", ") + escaped(key) + ": " + item;
        }
        return out + '}';
    }
    return Error(Code::NotCovered, "the structure of forward's result was not understood", path,
                 "export as a native folder");
}

} // namespace

std::string pythonString(const std::string &text)
{
    const bool isPlain = text.find("\"\"\"") == std::string::npos && text.find('\r') == std::string::npos
        && text.find('\0') == std::string::npos && !text.empty() && text.back() == '\n';
    // A backslash and a newline at the start keep the first line at the margin; raw strings keep both, so
    // the block is cut by [1:] instead.
    return isPlain ? "r\"\"\"\n" + text + "\"\"\"[1:]" : escaped(text);
}

std::optional<std::string> pythonValue(const Json &value)
{
    if (value.is_null())
        return "None";
    if (value.is_boolean())
        return value.get<bool>() ? "True" : "False";
    if (value.is_number())
        return value.dump();
    if (value.is_string())
        return escaped(value.get<std::string>());
    const std::string kind = stringOr(value, "t");
    const Json &inner = memberOr(value, "v");
    if (kind == "float")
        return "float(" + escaped(stringOr(value, "v")) + ')';
    if (kind == "dtype")
        return "torch." + stringOr(value, "v");
    if ((kind == "list" || kind == "tuple") && inner.is_array()) {
        std::string out;
        for (const Json &item : inner) {
            const auto text = pythonValue(item);
            if (!text)
                return std::nullopt;
            out += *text + ", ";
        }
        return kind == "list" ? '[' + out + ']' : '(' + out + ')';
    }
    return std::nullopt;
}

std::string pythonShape(const std::vector<std::int64_t> &shape)
{
    std::string out = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return out + (shape.size() == 1 ? ",)" : ")");
}

std::string pythonAccess(const std::string &inputName, const ReferenceSource &reference)
{
    const std::vector<std::string> path = parts(inputName.substr(inputName.find(':') + 1));
    const auto &names = reference.parameters;
    const bool isParameter = std::find(names.begin(), names.end(), path[0]) != names.end()
        || path[0] == reference.variadic || reference.keywords.empty();
    std::string out = isParameter ? path[0] : reference.keywords + '[' + escaped(path[0]) + ']';
    for (std::size_t i = 1; i < path.size(); ++i)
        out += '[' + (isNumber(path[i]) ? path[i] : escaped(path[i])) + ']';
    return out;
}

Result<std::string> pythonResult(const Json &tree, const Json &outputs)
{
    return resultAt(tree, "", outputs);
}

} // namespace heddle
