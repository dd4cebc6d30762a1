// SPDX-License-Identifier: Apache-2.0
#include "core/export/Export.h"

#include "core/base/Digest.h"
#include "core/export/ModelNewText.h"
#include "core/export/Python.h"
#include "core/export/RunSource.h"
#include "core/plan/Resolved.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace heddle {

namespace {

struct Prepared {
    TaskLayout layout;
    ResolvedPlan resolved;
    ReferenceSource reference;
    CompileCommand command;
    std::string digest; ///< of sources and flags
};

/// A name inside a comment of the exported file: one line, whatever the name holds.
std::string oneLine(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\\'; },
        '?');
    return text;
}

void replaceMark(std::string &text, const std::string &mark, const std::string &value)
{
    const std::size_t at = text.find(mark);
    if (at != std::string::npos)
        text.replace(at, mark.size(), value);
}

Result<Prepared> prepare(const ExportRequest &request, const std::string &program)
{
    if (request.plan.target != PlanTarget::Cpu)
        return Error(Code::NotCovered, "a candidate for cuda is exported as a native folder only",
                     "plan.json: target", "export with the native form");
    Prepared out;
    HEDDLE_TRY(out.layout, layoutFromJson(request.taskInfo));
    HEDDLE_TRY(out.resolved, resolve(request.plan, out.layout, request.tunables));
    HEDDLE_TRY(out.reference, splitTask(request.taskSource));
    HEDDLE_TRY(out.command,
               hostCompileCommand(program, request.plan, request.files, request.tunables, request.headers,
                                  &out.layout));
    HEDDLE_TRY(std::string run, generateRunSource(request.plan, out.resolved, out.layout));
    out.command.files["heddle_run.cpp"] = std::move(run);
    // Before the trailing "-o kernels.so".
    out.command.arguments.insert(out.command.arguments.end() - 2, "heddle_run.cpp");
    FileTree everything = out.command.files;
    for (const std::string &argument : out.command.arguments)
        everything["flags"] += argument + '\n';
    out.digest = treeDigest(everything);
    return out;
}

/// Everything between the def line and the return of forward().
class ForwardWriter {
public:
    ForwardWriter(const ExportRequest &request, const Prepared &prepared)
        : m_request(request), m_prepared(prepared)
    {
    }
    Result<std::string> write();
    const std::set<std::string> &dtypes() const { return m_dtypes; }

private:
    std::string dtype(Dtype dtype)
    {
        m_dtypes.insert(std::string(dtypeName(dtype)));
        return "_" + std::string(dtypeName(dtype));
    }
    void line(const std::string &text) { m_text += "        " + text + '\n'; }
    void readInputs();
    void readState();
    void checkCall();
    Result<void> checkValues();

    const ExportRequest &m_request;
    const Prepared &m_prepared;
    std::set<std::string> m_dtypes;
    std::vector<std::string> m_pointers;
    std::string m_text;
};

/// What the judged call did not give is at its default, and there is no more of *args and **kwargs than it gave: a value
/// that the kernels know nothing of must never be ignored in silence.
void ForwardWriter::checkCall()
{
    std::set<std::string> given;
    std::set<std::string> keywords;
    std::size_t variadicCount = 0;
    const ReferenceSource &reference = m_prepared.reference;
    const auto read = [&](const std::string &name) {
        const std::string path = name.substr(name.find(':') + 1);
        const std::size_t dot = path.find('.');
        const std::string first = path.substr(0, dot);
        const auto &known = reference.parameters;
        if (std::find(known.begin(), known.end(), first) != known.end())
            given.insert(first);
        else if (first == reference.variadic && dot != std::string::npos)
            variadicCount = std::max(variadicCount, std::size_t(std::atol(path.c_str() + dot + 1)) + 1);
        else
            keywords.insert(first);
    };
    for (const TensorInfo &info : m_prepared.layout.inputs)
        read(info.name);
    for (const ValueInfo &value : m_prepared.layout.values)
        read(value.name);
    for (const std::string &name : reference.parameters) {
        if (given.count(name) != 0)
            continue;
        line("if " + name + " is not _DEFAULTS[" + pythonString(name) + "]:");
        line("    _refuse_default(" + pythonString(name) + ", " + name + ')');
    }
    if (!reference.variadic.empty()) {
        const std::string count = std::to_string(variadicCount);
        line("if len(" + reference.variadic + ") != " + count + ':');
        line("    _refuse_call(" + pythonString(reference.variadic) + ", len(" + reference.variadic + "), "
             + count + ')');
    }
    if (!reference.keywords.empty()) {
        std::string list = "[";
        for (const std::string &name : keywords)
            list += (list.size() == 1 ? "" : ", ") + pythonString(name);
        line("if sorted(" + reference.keywords + ") != " + list + "]:");
        line("    _refuse_call(\"*\" " + pythonString(reference.keywords) + ", sorted(" + reference.keywords
             + "), " + list + "])");
    }
}

Result<void> ForwardWriter::checkValues()
{
    for (const ValueInfo &value : m_prepared.layout.values) {
        const std::string access = pythonAccess(value.name, m_prepared.reference);
        const auto expected = pythonValue(value.value);
        if (!expected)
            return Error(Code::NotCovered,
                         "the value of " + value.name + " cannot be written into an exported file",
                         value.name, "export as a native folder");
        const bool isWord = *expected == "None" || *expected == "True" || *expected == "False";
        // NaN differs from itself: both sides being unequal to themselves is what is wanted.
        if (*expected == "float(\"nan\")")
            line("if " + access + " == " + access + ':');
        else
            line("if " + access + (isWord ? " is not " : " != ") + *expected + ':');
        line("    _refuse_value(" + pythonString(access) + ", " + access + ", " + *expected + ')');
    }
    return {};
}

void ForwardWriter::readInputs()
{
    for (std::size_t i = 0; i < m_prepared.layout.inputs.size(); ++i) {
        const TensorInfo &info = m_prepared.layout.inputs[i];
        const std::string access = pythonAccess(info.name, m_prepared.reference);
        const std::string name = "_x" + std::to_string(i);
        const std::string type = dtype(info.dtype);
        const std::string shape = pythonShape(info.shape);
        line(name + " = " + access);
        line("if (");
        line("    not isinstance(" + name + ", _Tensor)");
        line("    or " + name + ".dtype is not " + type);
        line("    or " + name + ".shape != " + shape);
        line("    or not " + name + ".is_cpu");
        line("    or (" + name + ".requires_grad and _is_grad_enabled())");
        line("):");
        line("    _refuse(" + pythonString(access) + ", " + name + ", " + type + ", " + shape + ')');
        line("if not " + name + ".is_contiguous():");
        line("    " + name + " = " + name + ".contiguous()");
        m_pointers.push_back(name + ".data_ptr()");
    }
}

void ForwardWriter::readState()
{
    for (std::size_t i = 0; i < m_prepared.layout.state.size(); ++i) {
        const TensorInfo &info = m_prepared.layout.state[i];
        const std::string path = info.name.substr(6);
        const std::string leaf = path.substr(path.rfind('.') + 1);
        const std::string name = "_s" + std::to_string(i);
        const std::string type = dtype(info.dtype);
        const std::string shape = pythonShape(info.shape);
        const auto &updates = m_request.plan.updates;
        const bool isUpdated = std::find(updates.begin(), updates.end(), info.name) != updates.end();
        line(name + " = _state[" + std::to_string(i) + "][" + pythonString(leaf) + ']');
        line("if (");
        line("    " + name + ".dtype is not " + type);
        line("    or " + name + ".shape != " + shape);
        line("    or not " + name + ".is_cpu");
        line("    or not " + name + ".is_contiguous()");
        line("):");
        line("    " + name + " = _refuse_state(" + pythonString(path) + ", " + name + ", " + type + ", "
             + shape + ", " + (isUpdated ? "True" : "False") + ')');
        m_pointers.push_back(name + ".data_ptr()");
    }
}

Result<std::string> ForwardWriter::write()
{
    const ReferenceSource &reference = m_prepared.reference;
    m_text = "    " + reference.forwardHeader + '\n';
    line("if " + reference.self + "._heddle_mode is not None and " + reference.self + ".training is not "
         + reference.self + "._heddle_mode:");
    line("    raise RuntimeError(\"these kernels were judged with training=%s\" % " + reference.self
         + "._heddle_mode)");
    checkCall();
    HEDDLE_CHECK_OK(checkValues());
    readInputs();
    // An empty list is a list as well, so `or` would bind again at each call.
    line("_state = " + reference.self + ".__dict__.get(\"_heddle_state\")");
    line("if _state is None:");
    line("    _state = _bind(" + reference.self + ')');
    readState();
    for (std::uint32_t i = 0; i < m_prepared.resolved.outputCount; ++i) {
        const ResolvedBuffer &output = m_prepared.resolved.buffers[m_prepared.resolved.firstOutput() + i];
        line("out" + std::to_string(i) + " = _empty(" + pythonShape(output.shape)
             + ", dtype=" + dtype(output.dtype) + ')');
        m_pointers.push_back("out" + std::to_string(i) + ".data_ptr()");
    }
    std::string list;
    for (const std::string &pointer : m_pointers)
        list += (list.empty() ? "" : ", ") + pointer;
    line("if _run(_Pointers(" + list + ")) != 0:");
    line("    raise MemoryError(\"there is no memory for the scratch buffers of these kernels\")");
    HEDDLE_TRY(const std::string result,
               pythonResult(memberOr(m_request.taskInfo, "output_tree"),
                            memberOr(m_request.taskInfo, "outputs"), reference));
    line("return " + result);
    return m_text;
}

} // namespace

Result<std::string> exportModelNew(const ExportRequest &request)
{
    HEDDLE_TRY(const Prepared prepared, prepare(request, "g++"));
    ForwardWriter writer(request, prepared);
    HEDDLE_TRY(const std::string forward, writer.write());

    std::string sources;
    for (const auto &[name, text] : prepared.command.files)
        sources += "_SOURCES[" + pythonString(name) + "] = " + pythonString(text) + '\n';
    std::string flags = "[";
    for (const std::string &argument : prepared.command.arguments)
        flags += (flags.size() == 1 ? "" : ", ") + pythonString(argument);
    std::string dtypes;
    for (const std::string &name : writer.dtypes())
        dtypes += "_" + name + " = _torch." + name + '\n';
    std::string state = "[";
    for (const TensorInfo &info : prepared.layout.state)
        state += (state.size() == 1 ? "" : ", ") + pythonString(info.name.substr(6));
    const std::uint32_t pointers = prepared.layout.inputs.size() + prepared.layout.state.size() == 0
        ? prepared.resolved.outputCount
        : static_cast<std::uint32_t>(prepared.layout.inputs.size() + prepared.layout.state.size())
            + prepared.resolved.outputCount;
    // Dropout and batch statistics depend on the mode; where neither occurs the mode does not matter.
    const bool readsMode = prepared.reference.text.find("training") != std::string::npos;
    const std::string mode = readsMode ? "self.training"
                                       : "(\n            self.training\n            if any(\n                "
                                         "isinstance(m, (_torch.nn.modules.batchnorm._NormBase, "
                                         "_torch.nn.modules.dropout._DropoutNd))\n                for m in "
                                         "self.modules()\n            )\n            else None\n        )";
    // Judged in eval mode, it is made in eval mode: with train() it refuses where that matters.
    const bool isEval = stringOr(memberOr(request.taskInfo, "task"), "mode") == "eval";
    const Json &siblings = memberOr(request.taskInfo, "siblings");
    const bool hasSiblings = siblings.is_object() && !siblings.empty();
    std::string siblingTexts;
    for (const auto &[name, source] : siblings.items()) {
        const std::string module = name.substr(0, name.rfind(".py"));
        siblingTexts +=
            "_SIBLINGS[" + pythonString(module) + "] = " + pythonString(source.get<std::string>()) + '\n';
    }

    std::string text = modelNewHead;
    replaceMark(text, "@TASK@", oneLine(stringOr(memberOr(request.taskInfo, "task"), "name", "task")));
    replaceMark(text, "@CANDIDATE@", treeDigest(request.files).substr(0, 16));
    replaceMark(text, "@FLAGS@", flags + ']');
    replaceMark(text, "@DIGEST@", prepared.digest);
    replaceMark(text, "@POINTERS@", std::to_string(pointers));
    replaceMark(text, "@DTYPES@", dtypes);
    replaceMark(text, "@STATE@", state + ']');
    replaceMark(text, "@MODE@", mode);
    replaceMark(text, "@EVAL@", isEval ? "        self.eval()\n" : "");
    replaceMark(text, "@FORWARD@", forward);
    replaceMark(text, "@RESTORE@", hasSiblings ? modelNewRestore : "");
    // Last, since they hold text of others that may hold marks.
    const std::size_t at = text.find("@SOURCES@");
    text.replace(at, std::string("@SOURCES@").size(), sources);
    replaceMark(text, "@REFERENCE@", prepared.reference.text);
    std::string siblingBlock = hasSiblings ? modelNewSiblings : "";
    replaceMark(siblingBlock, "@TEXTS@", siblingTexts);
    replaceMark(text, "@SIBLINGS@", siblingBlock);
    replaceMark(text, "@FUTURE@", prepared.reference.future);
    return text;
}

Result<std::string> exportObjectName(const ExportRequest &request)
{
    HEDDLE_TRY(const Prepared prepared, prepare(request, "g++"));
    return "heddle_" + sha256Hex(prepared.digest + processorIdentity()).substr(0, 24) + "/kernels.so";
}

Result<CompileCommand> exportCompileCommand(const ExportRequest &request, const std::string &program)
{
    HEDDLE_TRY(Prepared prepared, prepare(request, program));
    return std::move(prepared.command);
}

Result<FileTree> exportNative(const Plan &plan, const FileTree &files,
                              const std::map<std::string, std::int64_t> &tunables)
{
    Plan chosen = plan;
    for (const auto &[name, value] : tunables) {
        const auto tunable = chosen.tunables.find(name);
        if (tunable == chosen.tunables.end()
            || std::find(tunable->second.choices.begin(), tunable->second.choices.end(), value)
                == tunable->second.choices.end())
            return Error(Code::InvalidInput,
                         std::to_string(value) + " is not a choice of a tunable \"" + name + '"',
                         "tunables." + name, "name a tunable of the plan and one of its choices");
        tunable->second.defaultValue = value;
    }
    FileTree out = files;
    out["plan.json"] = prettyText(planToJson(chosen)) + '\n';
    return out;
}

} // namespace heddle
