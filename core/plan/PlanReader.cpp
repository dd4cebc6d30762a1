// SPDX-License-Identifier: Apache-2.0
#include "core/plan/PlanReader.h"

#include "core/plan/PlanNames.h"

#include <algorithm>

namespace heddle {

namespace {

// Generous limits: a plan at any of them is generated nonsense, and every later loop stays bounded.
constexpr std::size_t maxSymbols = 1024;
constexpr std::size_t maxBuffers = 512;
constexpr std::size_t maxDimensions = 16;
constexpr std::size_t maxOutputs = 64; // HEDDLE_MAX_OUTPUTS of the doorbell page

std::string at(const std::string &where, std::size_t index)
{
    return where + '[' + std::to_string(index) + ']';
}

} // namespace

Error PlanReader::bad(const std::string &where, std::string message, std::string next) const
{
    return Error(Code::InvalidInput, m_step + message, "plan.json: " + where, std::move(next));
}

Result<void> PlanReader::checkMembers(const Json &value, const std::string &where,
                                      std::initializer_list<std::string_view> allowed) const
{
    if (!value.is_object())
        return bad(where, "this is not an object", "expected an object with " + listText(allowed));
    for (const auto &[name, member] : value.items())
        if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
            return bad(where + '.' + name, "there is no member \"" + name + "\" here",
                       "expected one of " + listText(allowed));
    return {};
}

Result<void> PlanReader::checkNewName(const std::string &name, const std::string &where,
                                      const char *what) const
{
    if (!isIdentifier(name) || name == "ceil_div" || name == "min" || name == "max")
        return bad(where, "\"" + name + "\" cannot name a " + what,
                   "expected letters, digits and _, not starting with a digit, and no function's name");
    const bool isTaken =
        m_names.count(name) != 0 || std::find(m_indices.begin(), m_indices.end(), name) != m_indices.end();
    if (isTaken)
        return bad(where, "the name \"" + name + "\" is already in use",
                   "symbols, tunables and repeat indices share one name space: rename one of them");
    return {};
}

Result<void> PlanReader::checkNames(const Expression &expression, const std::string &where) const
{
    for (const std::string &name : expression.names()) {
        const bool isReference = name.find(':') != std::string::npos;
        if (isReference || m_names.count(name) != 0
            || std::find(m_indices.begin(), m_indices.end(), name) != m_indices.end())
            continue;
        std::vector<std::string> known(m_names.begin(), m_names.end());
        known.insert(known.end(), m_indices.begin(), m_indices.end());
        return bad(where, "nothing is named \"" + name + "\" in \"" + expression.text() + '"',
                   known.empty() ? "define it under \"symbols\"" : "known here: " + joined(known));
    }
    return {};
}

Result<Expression> PlanReader::readExpression(const Json &value, const std::string &where)
{
    if (value.is_number_integer()) {
        if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)
            return bad(where, "the integer does not fit into 64 bits", "expected a smaller integer");
        return Expression::constant(value.get<std::int64_t>());
    }
    if (!value.is_string())
        return bad(where, "this is not an expression",
                   "expected a string such as \"rows * 4\", or an integer");
    auto parsed = Expression::parse(value.get<std::string>());
    if (!parsed)
        return bad(where, parsed.error().message(), parsed.error().next());
    HEDDLE_CHECK_OK(checkNames(*parsed, where));
    return std::move(parsed).value();
}

Result<Plan> PlanReader::read()
{
    HEDDLE_CHECK_OK(
        checkMembers(m_root, "(top)",
                     {"heddle", "target", "symbols", "tunables", "buffers", "updates", "steps", "outputs"}));
    const Json &version = memberOr(m_root, "heddle");
    if (!version.is_number_integer() || version != 1)
        return bad("heddle", "the version of the plan is missing or unknown", "expected \"heddle\": 1");
    const std::string target = stringOr(m_root, "target");
    if (target != "cpu" && target != "cuda")
        return bad("target", "the target \"" + target + "\" is unknown",
                   "expected \"cpu\", or \"cuda\", which nothing runs yet");
    m_plan.target = target == "cpu" ? PlanTarget::Cpu : PlanTarget::Cuda;
    HEDDLE_CHECK_OK(readTunables());
    HEDDLE_CHECK_OK(readSymbols());
    HEDDLE_CHECK_OK(readBuffers());
    HEDDLE_CHECK_OK(readOutputs());
    HEDDLE_CHECK_OK(readUpdates());
    HEDDLE_TRY(m_plan.steps, readSteps(memberOr(m_root, "steps"), "steps"));
    if (m_nextStep == 0)
        return bad("steps", "the plan has no kernel step", "expected at least one step with \"kernel\"");
    return std::move(m_plan);
}

Result<void> PlanReader::readTunables()
{
    const Json &tunables = memberOr(m_root, "tunables");
    if (tunables.is_null())
        return {};
    if (!tunables.is_object() || tunables.size() > maxSymbols)
        return bad("tunables", "this is not an object of tunables",
                   R"(expected {"CHUNK": {"default": 4096, "choices": [1024, 4096]}})");
    for (const auto &[name, value] : tunables.items()) {
        const std::string where = "tunables." + name;
        HEDDLE_CHECK_OK(checkNewName(name, where, "tunable"));
        if (!isMacroName(name))
            return bad(where, "\"" + name + "\" cannot be a macro",
                       "expected capitals, digits and _, such as CHUNK");
        HEDDLE_CHECK_OK(checkMembers(value, where, {"default", "choices"}));
        Tunable tunable;
        const Json &chosen = memberOr(value, "default");
        if (!isInt64(chosen))
            return bad(where + ".default", "a tunable needs a default", "expected an integer");
        tunable.defaultValue = chosen.get<std::int64_t>();
        const Json &choices = memberOr(value, "choices");
        if (choices.is_null()) {
            tunable.choices = {tunable.defaultValue};
        } else {
            if (!choices.is_array() || choices.empty() || choices.size() > maxSymbols
                || !std::all_of(choices.begin(), choices.end(), isInt64))
                return bad(where + ".choices", "these are not choices", "expected a list of integers");
            tunable.choices = choices.get<std::vector<std::int64_t>>();
        }
        if (std::find(tunable.choices.begin(), tunable.choices.end(), tunable.defaultValue)
            == tunable.choices.end())
            return bad(where + ".default", "the default is not among the choices", "add it to \"choices\"");
        m_names.insert(name);
        m_plan.tunables.emplace(name, std::move(tunable));
    }
    return {};
}

Result<void> PlanReader::readSymbols()
{
    const Json &symbols = memberOr(m_root, "symbols");
    if (symbols.is_null())
        return {};
    if (!symbols.is_object() || symbols.size() > maxSymbols)
        return bad("symbols", "this is not an object of symbols", R"(expected {"rows": "input:x.shape[0]"})");
    for (const auto &[name, value] : symbols.items()) {
        HEDDLE_CHECK_OK(checkNewName(name, "symbols." + name, "symbol"));
        m_names.insert(name);
    }
    for (const auto &[name, value] : symbols.items()) {
        HEDDLE_TRY(Expression expression, readExpression(value, "symbols." + name));
        m_plan.symbols.emplace(name, std::move(expression));
    }
    if (const auto cycle = symbolCycle(m_plan.symbols); !cycle.empty())
        return bad("symbols." + cycle.front(),
                   "symbols depend on each other in a circle: " + cycleText(cycle),
                   "define one of them from shapes alone");
    return {};
}

Result<PlanBuffer> PlanReader::readBuffer(const Json &value, const std::string &where, std::string name)
{
    PlanBuffer buffer;
    buffer.name = std::move(name);
    const std::string word = stringOr(value, "dtype");
    const auto dtype = dtypeFromName(word);
    if (!dtype)
        return bad(where + ".dtype", "the dtype \"" + word + "\" is not known",
                   "expected one of " + dtypeList());
    buffer.dtype = *dtype;
    const Json &shape = memberOr(value, "shape");
    if (!shape.is_array() || shape.size() > maxDimensions)
        return bad(where + ".shape", "this is not a shape",
                   R"(expected a list of expressions such as ["rows", 4])");
    for (std::size_t i = 0; i < shape.size(); ++i) {
        HEDDLE_TRY(Expression size, readExpression(shape[i], at(where + ".shape", i)));
        buffer.shape.push_back(std::move(size));
    }
    return buffer;
}

Result<void> PlanReader::readBuffers()
{
    const Json &buffers = memberOr(m_root, "buffers");
    if (buffers.is_null())
        return {};
    if (!buffers.is_array() || buffers.size() > maxBuffers)
        return bad("buffers", "this is not a list of buffers",
                   "expected at most 512 objects with name, dtype and shape");
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const std::string where = at("buffers", i);
        HEDDLE_CHECK_OK(checkMembers(buffers[i], where, {"name", "dtype", "shape"}));
        const std::string name = stringOr(buffers[i], "name");
        if (name.rfind("tmp:", 0) != 0 || !isIdentifier(name.substr(4)))
            return bad(where + ".name", "\"" + name + "\" cannot name a buffer",
                       "expected a name such as \"tmp:h\"");
        for (const PlanBuffer &other : m_plan.buffers)
            if (other.name == name)
                return bad(where + ".name", "there are two buffers named \"" + name + '"',
                           "rename one of them");
        HEDDLE_TRY(PlanBuffer buffer, readBuffer(buffers[i], where, name));
        m_plan.buffers.push_back(std::move(buffer));
    }
    return {};
}

Result<void> PlanReader::readOutputs()
{
    const Json &outputs = memberOr(m_root, "outputs");
    if (!outputs.is_array() || outputs.empty() || outputs.size() > maxOutputs)
        return bad("outputs", "a plan lists its outputs",
                   R"(expected [{"dtype": "float32", "shape": ["rows"]}, …], at most 64)");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string where = at("outputs", i);
        HEDDLE_CHECK_OK(checkMembers(outputs[i], where, {"dtype", "shape"}));
        HEDDLE_TRY(PlanBuffer buffer, readBuffer(outputs[i], where, "out:" + std::to_string(i)));
        m_plan.outputs.push_back(std::move(buffer));
    }
    return {};
}

Result<void> PlanReader::readUpdates()
{
    const Json &updates = memberOr(m_root, "updates");
    if (updates.is_null())
        return {};
    if (!updates.is_array())
        return bad("updates", "this is not a list",
                   R"(expected names of state such as ["state:bn.running_mean"])");
    for (std::size_t i = 0; i < updates.size(); ++i) {
        const std::string name = updates[i].is_string() ? updates[i].get<std::string>() : std::string();
        if (name.rfind("state:", 0) != 0)
            return bad(at("updates", i), "\"" + name + "\" cannot be updated",
                       "only state is updated, inputs are read-only: expected \"state:NAME\"");
        const auto &known = m_plan.updates;
        if (std::find(known.begin(), known.end(), name) != known.end())
            return bad(at("updates", i), "\"" + name + "\" is listed twice", "remove one of them");
        m_plan.updates.push_back(name);
    }
    return {};
}

Result<Plan> planFromJson(const Json &value, const FileTree *files)
{
    return PlanReader(value, files).read();
}

Result<Plan> parsePlan(const FileTree &files)
{
    const auto found = files.find("plan.json");
    if (found == files.end())
        return Error(Code::NotFound, "the candidate has no plan.json", "plan.json",
                     "a native candidate is a folder with plan.json and the sources that it names");
    HEDDLE_TRY(const Json value, parseJson(found->second, "plan.json"));
    return planFromJson(value, &files);
}

} // namespace heddle
