// SPDX-License-Identifier: Apache-2.0
#include "tests/core/plan/PlanVectors.h"

namespace heddle {
namespace {

using testing::vectorFiles;
using testing::vectorLayout;
using testing::vectorNames;

const char *const small = R"({
  "heddle": 1, "target": "cpu",
  "symbols": {"rows": "input:x.shape[0]", "cols": "input:x.shape[1]", "n": "rows * cols"},
  "tunables": {"CHUNK": {"default": 4, "choices": [4, 8]}},
  "buffers": [{"name": "tmp:h", "dtype": "float32", "shape": ["rows", "cols"]}],
  "steps": [
    {"kernel": "first", "source": "kernel.cpp", "args": [{"ptr": "input:x"}, {"ptr": "tmp:h"}, {"i64": "n"}]},
    {"repeat": {"count": "rows", "index": "t", "steps": [
      {"kernel": "second", "source": "kernel.cpp", "when": "t % 2 == 0",
       "args": [{"ptr": "tmp:h", "offset": "t * cols"}, {"ptr": "out:0", "offset": "t * cols"}, {"i32": "cols"},
                {"f32": "const:0.5"}, {"f64": "input:eps"}]}]}}],
  "outputs": [{"dtype": "float32", "shape": ["rows", "cols"]}]})";

TaskLayout smallLayout()
{
    TaskLayout layout;
    layout.inputs = {{"input:x", Dtype::Float32, {3, 5}}};
    layout.values = {{"input:eps", 1e-5}};
    return layout;
}

Json smallJson() { return *parseJson(small, "small"); }

/// The error of parsing (or, if that works, of resolving) the small plan with one member replaced.
Error errorWith(const std::string &pointer, const Json &value)
{
    Json plan = smallJson();
    plan[Json::json_pointer(pointer)] = value;
    const FileTree files{{"plan.json", compactText(plan)}, {"kernel.cpp", ""}};
    auto parsed = parsePlan(files);
    if (!parsed)
        return parsed.error();
    auto resolved = resolve(*parsed, smallLayout());
    if (!resolved)
        return resolved.error();
    return Error(Code::Internal, "no error at all");
}

TEST(Plan, theThreeVectorsParseForBothTargetsAndSurviveARoundTrip)
{
    for (const std::string &name : vectorNames())
        for (const std::string target : {"cpu", "cuda"}) {
            const auto plan = parsePlan(vectorFiles(name, target));
            ASSERT_TRUE(plan) << name << target << plan.error().text();
            const Json once = planToJson(*plan);
            const auto again = planFromJson(once, nullptr);
            ASSERT_TRUE(again) << again.error().text();
            EXPECT_EQ(planToJson(*again), once);
            EXPECT_TRUE(resolve(*plan, vectorLayout(name)))
                << name << resolve(*plan, vectorLayout(name)).error().text();
        }
}

struct BrokenRow {
    const char *pointer;
    Json value;
    const char *where;   ///< exact
    const char *message; ///< part of it
    const char *next;    ///< part of it
};

TEST(Plan, errorsNameTheStepTheFieldAndWhatWasExpected)
{
    const std::vector<BrokenRow> rows = {
        {"/heddle", 2, "plan.json: heddle", "version", "\"heddle\": 1"},
        {"/target", "tpu", "plan.json: target", "tpu", "\"cpu\""},
        {"/extra", 1, "plan.json: (top).extra", "no member", "steps"},
        {"/symbols/rows", "n / cols", "plan.json: symbols.n", "circle: n → rows → n", "shapes"},
        {"/symbols/rows", "rows", "plan.json: symbols.rows", "rows → rows", "shapes"},
        {"/symbols/CHUNK", "1", "plan.json: symbols.CHUNK", "already in use", "name space"},
        {"/symbols/min", "1", "plan.json: symbols.min", "cannot name", "function"},
        {"/symbols/n", "rows * colls", "plan.json: symbols.n", "colls", "cols"},
        {"/symbols/n", "rows *", "plan.json: symbols.n", "column 7", "expected an integer"},
        {"/symbols/n", "rows * 4611686018427387904", "plan.json: symbols.n", "64 bits", "smaller"},
        {"/symbols/n", "1 / (rows - 3)", "plan.json: symbols.n", "divides by zero", "guard"},
        {"/symbols/rows", "input:y.shape[0]", "plan.json: symbols.rows", "input:y", "input:x"},
        {"/symbols/rows", "input:x.shape[2]", "plan.json: symbols.rows", "2 dimensions", "count from 0"},
        {"/symbols/rows", "input:eps", "plan.json: symbols.rows", "not an integer", "f32"},
        {"/symbols/rows", "input:x", "plan.json: symbols.rows", "is a tensor", ".shape[0]"},
        {"/tunables/CHUNK/default", 5, "plan.json: tunables.CHUNK.default", "not among", "choices"},
        {"/tunables/chunk", {{"default", 1}}, "plan.json: tunables.chunk", "macro", "capitals"},
        {"/buffers/0/name", "h", "plan.json: buffers[0].name", "\"h\"", "tmp:h"},
        {"/buffers/0/dtype", "float8", "plan.json: buffers[0].dtype", "float8", "bfloat16"},
        {"/buffers/0/shape/1", "rows - 4", "plan.json: buffers[0].shape[1]", "-1", "at least 0"},
        {"/updates", {"input:x"}, "plan.json: updates[0]", "input:x", "read-only"},
        {"/updates", {"state:w"}, "plan.json: updates[0]", "state:w", "state tensor"},
        {"/outputs", Json::array(), "plan.json: outputs", "lists its outputs", "float32"},
        {"/steps", Json::array(), "plan.json: steps", "no kernel step", "at least one"},
        {"/steps/0/repeat", Json::object(), "plan.json: steps[0]", "either", "\"repeat\""},
        {"/steps/0/source", "other.cpp", "plan.json: steps[0].source",
         "step 0 (first): the candidate has no file", "add"},
        {"/steps/0/source", "../kernel.cpp", "plan.json: steps[0].source", "step 0", "relative path"},
        {"/steps/0/source", "kernel.cu", "plan.json: steps[0].source", "step 0", ".cpp"},
        {"/steps/0/kernel", "heddle_x", "plan.json: steps[0].kernel", "heddle_x", "identifier"},
        {"/steps/0/grid", {1}, "plan.json: steps[0].grid", "no member \"grid\"", "args"},
        {"/steps/0/args/0/ptr", "in:x", "plan.json: steps[0].args[0].ptr", "step 0 (first)", "input:NAME"},
        {"/steps/0/args/0/ptr", "input:y", "plan.json: steps[0].args[0].ptr", "step 0 (first)", "input:x"},
        {"/steps/0/args/1/ptr", "tmp:g", "plan.json: steps[0].args[1].ptr", "tmp:g", "buffers"},
        {"/steps/0/args/1/ptr", "out:1", "plan.json: steps[0].args[1].ptr", "out:1", "1 outputs"},
        {"/steps/0/args/2", {{"i16", 1}}, "plan.json: steps[0].args[2].i16", "no member", "i64"},
        {"/steps/0/args/2",
         {{"i64", 1}, {"i32", 1}},
         "plan.json: steps[0].args[2]",
         "one type",
         "exactly one"},
        {"/steps/0/args/2/i64", "t", "plan.json: steps[0].args[2].i64", "\"t\"", "known here"},
        {"/steps/1/repeat/index", "n", "plan.json: steps[1].repeat.index", "already in use", "rename"},
        {"/steps/1/repeat/count", "0 - 1", "plan.json: steps (repeat over t).count", "-1", "at least 0"},
        {"/steps/1/repeat/count", "262145", "plan.json: steps (repeat over t).count", "262145",
         "inside the kernel"},
        {"/steps/1/repeat/steps/0/args/0/offset", "t * cols + 6",
         "plan.json: steps[1].repeat.steps[0].args[0].offset", "step 1 (second): the offset 16", "0 to 15"},
        {"/steps/1/repeat/steps/0/args/0/offset", "t - 1",
         "plan.json: steps[1].repeat.steps[0].args[0].offset", "the offset -1", "0 to 15"},
        {"/steps/1/repeat/steps/0/args/2/i32", "cols * 4294967296",
         "plan.json: steps[1].repeat.steps[0].args[2].i32", "does not fit into 32", "i64"},
        {"/steps/1/repeat/steps/0/args/3/f32", "const:half",
         "plan.json: steps[1].repeat.steps[0].args[3].f32", "const:half", "const:0.5"},
        {"/steps/1/repeat/steps/0/args/4/f64", "input:epsilon",
         "plan.json: steps[1].repeat.steps[0].args[4].f64", "input:epsilon", "non-tensor"},
    };
    for (const BrokenRow &row : rows) {
        const Error error = errorWith(row.pointer, row.value);
        const std::string text = std::string(row.pointer) + ": " + error.text();
        EXPECT_EQ(error.where(), row.where) << text;
        EXPECT_NE(error.message().find(row.message), std::string::npos) << text;
        EXPECT_NE(error.next().find(row.next), std::string::npos) << text;
    }
}

TEST(Plan, brokenJsonNamesItsLineAndAMissingPlanItsName)
{
    const auto broken = parsePlan({{"plan.json", "{\n\"heddle\": 1,\n oops}"}});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().where(), "plan.json:3:2");
    const auto missing = parsePlan({{"kernel.cpp", ""}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::NotFound);
}

TEST(Resolve, buffersStepsAndCallsAreConcreteAndConditionsAreApplied)
{
    const auto plan = planFromJson(smallJson(), nullptr);
    ASSERT_TRUE(plan) << plan.error().text();
    const auto resolved = resolve(*plan, smallLayout());
    ASSERT_TRUE(resolved) << resolved.error().text();
    ASSERT_EQ(resolved->buffers.size(), 3u);
    EXPECT_EQ(resolved->buffers[0].name, "input:x");
    EXPECT_FALSE(resolved->buffers[0].isWritable);
    EXPECT_EQ(resolved->buffers[1].bytes, 60u);
    EXPECT_EQ(resolved->scratchBytes, 60u);
    EXPECT_EQ(resolved->firstOutput(), 2u);
    EXPECT_EQ(resolved->steps[1].trampoline, "heddle_step_1");
    // Rows 0 and 2 of the three pass `t % 2 == 0`.
    ASSERT_EQ(resolved->calls.size(), 3u);
    EXPECT_EQ(resolved->maxArguments, 5u);
    char bases[3][64] = {};
    void *addresses[3] = {bases[0], bases[1], bases[2]};
    heddle_arg arguments[5];
    fillArguments(*resolved, resolved->calls[2], addresses, arguments);
    EXPECT_EQ(arguments[0].ptr, bases[1] + 2 * 5 * 4);
    EXPECT_EQ(arguments[1].ptr, bases[2] + 2 * 5 * 4);
    EXPECT_EQ(arguments[2].i32, 5);
    EXPECT_EQ(arguments[3].f32, 0.5f);
    EXPECT_EQ(arguments[4].f64, 1e-5);
    EXPECT_EQ(resolved->symbols.at("n"), 15);
    EXPECT_EQ(resolved->symbols.at("CHUNK"), 4);
}

TEST(Resolve, tunablesTakeOnlyTheirChoices)
{
    const auto plan = planFromJson(smallJson(), nullptr);
    ASSERT_TRUE(plan);
    EXPECT_EQ(resolve(*plan, smallLayout(), {{"CHUNK", 8}})->symbols.at("CHUNK"), 8);
    EXPECT_FALSE(resolve(*plan, smallLayout(), {{"CHUNK", 5}}));
    EXPECT_FALSE(resolve(*plan, smallLayout(), {{"BLOCK", 4}}));
}

TEST(Resolve, outputsAndUpdatesMustBeThoseOfTheTask)
{
    const auto plan = parsePlan(vectorFiles("repeat_scan", "cpu"));
    ASSERT_TRUE(plan);
    const auto rejects = [&](auto change, const char *where, const char *next) {
        TaskLayout layout = vectorLayout("repeat_scan");
        change(layout);
        const auto resolved = resolve(*plan, layout);
        ASSERT_FALSE(resolved) << where;
        EXPECT_EQ(resolved.error().where(), where) << resolved.error().text();
        EXPECT_NE(resolved.error().next().find(next), std::string::npos) << resolved.error().text();
    };
    rejects([](TaskLayout &l) { l.outputs[1].shape = {40, 4}; }, "plan.json: outputs[1].shape", "[40, 4]");
    rejects([](TaskLayout &l) { l.outputs[0].dtype = Dtype::Float64; }, "plan.json: outputs[0].dtype",
            "float64");
    rejects([](TaskLayout &l) { l.outputs.pop_back(); }, "plan.json: outputs", "one output for each");
    rejects([](TaskLayout &l) { l.updates.clear(); }, "plan.json: updates[0]", "remove");
    rejects([](TaskLayout &l) { l.updates.emplace_back("state:cell.decay"); }, "plan.json: updates",
            "list it");
    const auto good = resolve(*plan, vectorLayout("repeat_scan"));
    ASSERT_TRUE(good) << good.error().text();
    EXPECT_EQ(good->calls.size(), 14u);
    ASSERT_EQ(good->updates.size(), 1u);
    EXPECT_TRUE(good->buffers[good->updates[0]].isWritable);
    EXPECT_FALSE(good->buffers[2].isWritable) << good->buffers[2].name;
}

TEST(Resolve, nestedRepeatsThatCallNothingStillEnd)
{
    Json plan = smallJson();
    Json inner = plan["steps"][0];
    inner["when"] = "0";
    for (int i = 0; i < 8; ++i)
        inner = {{"repeat", {{"count", "200000"}, {"index", "i" + std::to_string(i)}, {"steps", {inner}}}}};
    plan["steps"] = {inner};
    const auto parsed = planFromJson(plan, nullptr);
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_FALSE(resolve(*parsed, smallLayout()));
}

TEST(Layout, theMatrixOfDtypesIsCompleteForBothTargets)
{
    const std::vector<std::tuple<const char *, int, const char *, const char *>> matrix = {
        {"float32", 4, "float", "float"},
        {"float64", 8, "double", "double"},
        {"float16", 2, "heddle::float16", "__half"},
        {"bfloat16", 2, "heddle::bfloat16", "__nv_bfloat16"},
        {"int64", 8, "int64_t", "int64_t"},
        {"int32", 4, "int32_t", "int32_t"},
        {"int16", 2, "int16_t", "int16_t"},
        {"int8", 1, "int8_t", "int8_t"},
        {"uint8", 1, "uint8_t", "uint8_t"},
        {"bool", 1, "bool", "bool"}};
    const auto page = readFile(std::string(HEDDLE_SOURCE_DIR) + "/docs/architecture/plan.md");
    ASSERT_TRUE(page);
    for (const auto &[name, bytes, cpu, cuda] : matrix) {
        const auto dtype = dtypeFromName(name);
        ASSERT_TRUE(dtype) << name;
        EXPECT_EQ(dtypeName(*dtype), name);
        EXPECT_EQ(dtypeBytes(*dtype), bytes);
        EXPECT_EQ(dtypeCppName(*dtype, PlanTarget::Cpu), cpu);
        EXPECT_EQ(dtypeCppName(*dtype, PlanTarget::Cuda), cuda);
        const std::string row = "| " + std::string(name) + " | " + std::to_string(bytes) + " | `" + cpu + '`';
        EXPECT_NE(page->find(row), std::string::npos) << "plan.md lacks the row: " << row;
    }
    EXPECT_FALSE(dtypeFromName("complex64"));
}

TEST(Layout, theOraclesOpenResultAndArenaLayoutAreReadAlike)
{
    const Json open =
        *parseJson(R"({"inputs": [{"name": "input:x", "dtype": "float32", "shape": [2, 3], "offset": 0}],
        "state": [{"name": "state:w", "dtype": "bfloat16", "shape": [], "kind": "parameter"}],
        "values": [{"name": "input:k", "value": 3}], "outputs": [{"path": "", "dtype": "bool", "shape": [0]}],
        "updates": ["state:w"]})",
                   "open");
    const auto layout = layoutFromJson(open);
    ASSERT_TRUE(layout) << layout.error().text();
    EXPECT_EQ(layout->inputs[0].bytes(), 24);
    EXPECT_EQ(layout->state[0].bytes(), 2);
    EXPECT_EQ(layout->outputs[0].name, "out:0");
    EXPECT_EQ(layout->outputs[0].bytes(), 0);
    for (const char *broken :
         {R"({"inputs": 3})", R"({"inputs": [{"name": "a", "dtype": "f", "shape": []}]})",
          R"({"inputs": [{"name": "a", "dtype": "bool", "shape": [-1]}]})",
          R"({"inputs": [{"name": "a", "dtype": "bool", "shape": [4294967296, 4294967296]}]})",
          R"({"inputs": [{"dtype": "bool", "shape": []}]})", "[]", R"({"updates": [3]})"})
        EXPECT_FALSE(layoutFromJson(*parseJson(broken, "broken"))) << broken;
}

} // namespace
} // namespace heddle
