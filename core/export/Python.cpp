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

class ResultWriter {
public:
    ResultWriter(const Json &outputs, const ReferenceSource &reference)
        : m_outputs(outputs), m_reference(reference)
    {
    }

    Result<std::string> at(const Json &node, const std::string &path) const
    {
        if (node.is_null())
            return std::string("None");
        if (node.is_string() && node == "tensor")
            return leaf(path);
        const std::string kind = stringOr(node, "t");
        const Json &items = memberOr(node, "v");
        if (kind == "dict" || kind == "ordered_dict")
            return mapping(items, path, kind == "ordered_dict");
        if (!items.is_array())
            return notCovered(path, stringOr(node, "name"));
        std::string list;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Json &keys = memberOr(node, "keys");
            const std::string key =
                i < keys.size() && keys[i].is_string() ? keys[i].get<std::string>() : std::to_string(i);
            HEDDLE_TRY(const std::string item, at(items[i], inside(path, key)));
            list += (i == 0 ? "" : ", ") + item;
        }
        const std::string tuple = '(' + list + (items.size() == 1 ? ",)" : ")");
        const std::string name = stringOr(node, "name");
        if (kind == "list")
            return '[' + list + ']';
        if (kind == "tuple")
            return tuple;
        if (kind == "return_type")
            return "_torch.return_types." + name + '(' + tuple + ')';
        // A class of the task's own file comes with it; another's cannot be reached from the exported one.
        if (kind == "named_tuple" && definesName(m_reference.text, name))
            return name + "(*" + tuple + ')';
        return notCovered(path, name);
    }

private:
    static std::string inside(const std::string &path, const std::string &key)
    {
        return path.empty() ? key : path + '.' + key;
    }

    static Error notCovered(const std::string &path, const std::string &name)
    {
        return Error(Code::NotCovered,
                     "the structure of forward's result cannot be written into an exported file: " + name,
                     path,
                     "return a tensor, or tuples, lists or dicts of tensors; or export as a native folder");
    }

    Result<std::string> leaf(const std::string &path) const
    {
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            if (stringOr(m_outputs[i], "path") == path)
                return "out" + std::to_string(i);
        }
        return Error(Code::NotCovered,
                     "the result of forward has a tensor that is not in the list of outputs", path);
    }

    Result<std::string> mapping(const Json &items, const std::string &path, bool isOrdered) const
    {
        std::string out;
        for (const Json &pair : items) {
            const Json &key = pair.at(0);
            HEDDLE_TRY(const std::string item,
                       at(pair.at(1), inside(path, key.is_string() ? key.get<std::string>() : key.dump())));
            const std::string name = key.is_string() ? escaped(key.get<std::string>()) : key.dump();
            out +=
                (out.empty() ? "" : ", ") + (isOrdered ? '(' + name + ", " + item + ')' : name + ": " + item);
        }
        return isOrdered ? "_OrderedDict([" + out + "])" : '{' + out + '}';
    }

    const Json &m_outputs;
    const ReferenceSource &m_reference;
};

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

Result<std::string> pythonResult(const Json &tree, const Json &outputs, const ReferenceSource &reference)
{
    return ResultWriter(outputs, reference).at(tree, "");
}

} // namespace heddle
