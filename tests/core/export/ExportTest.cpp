// SPDX-License-Identifier: Apache-2.0
#include "core/export/Export.h"

#include "tests/core/plan/PlanVectors.h"
#include "tests/support/PlainLauncher.h"

#include <cstdlib>

namespace heddle {
namespace {

using testing::vectorFiles;
using testing::vectorNames;

Json tensors(const std::vector<TensorInfo> &list)
{
    Json out = Json::array();
    for (const TensorInfo &info : list)
        out.push_back({{"name", info.name}, {"dtype", dtypeName(info.dtype)}, {"shape", info.shape}});
    return out;
}

/// What the oracle's `open` says about a vector's task.
Json taskInfo(const std::string &name)
{
    const TaskLayout layout = testing::vectorLayout(name);
    Json info{{"task", {{"name", name}, {"mode", "as-constructed"}}},
              {"inputs", tensors(layout.inputs)},
              {"state", tensors(layout.state)},
              {"outputs", tensors(layout.outputs)},
              {"updates", layout.updates},
              {"values", Json::array()},
              {"output_tree", "tensor"}};
    for (const ValueInfo &value : layout.values)
        info["values"].push_back({{"name", value.name}, {"value", value.value}});
    info["outputs"][0]["path"] = "";
    if (name == "repeat_scan") {
        info["output_tree"] = {{"t", "tuple"}, {"v", {"tensor", "tensor"}}};
        info["outputs"][0]["path"] = "0";
        info["outputs"][1]["path"] = "1";
    }
    return info;
}

FileTree headers()
{
    auto files = readTree(std::string(HEDDLE_SOURCE_DIR) + "/resources/include");
    EXPECT_TRUE(files);
    FileTree out;
    for (auto &[name, bytes] : *files)
        if (name.ends_with(".h"))
            out.emplace(name, bytes);
    return out;
}

std::string taskPath(const std::string &name)
{
    return std::string(HEDDLE_SOURCE_DIR) + "/resources/plans/" + name + "/task.py";
}

ExportRequest request(const std::string &name, const std::string &target = "cpu")
{
    const FileTree files = vectorFiles(name, target);
    auto plan = parsePlan(files);
    EXPECT_TRUE(plan) << plan.error().text();
    return {.plan = *plan,
            .files = files,
            .tunables = {},
            .taskSource = *readFile(taskPath(name)),
            .taskInfo = taskInfo(name),
            .headers = headers()};
}

std::map<std::string, std::string> environment(const std::filesystem::path &extensions)
{
    return {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
            {"HOME", extensions.string()},
            {"TORCH_EXTENSIONS_DIR", extensions.string()}};
}

class ExportedFile : public ::testing::TestWithParam<std::string> {};

TEST_P(ExportedFile, givesTheTasksValuesInACleanPythonProcess)
{
    const char *python = std::getenv("HEDDLE_PYTHON");
    if (python == nullptr)
        GTEST_SKIP() << "HEDDLE_PYTHON names no Python with torch";
    const ExportRequest wanted = request(GetParam());
    const auto text = exportModelNew(wanted);
    ASSERT_TRUE(text) << text.error().text();
    const auto folder = TempFolder::create("heddle-export-");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "model_new.py";
    ASSERT_TRUE(writeFileAtomically(file, *text));
    const std::string script = std::string(HEDDLE_SOURCE_DIR) + "/tests/core/export/check_export.py";
    const auto extensions = folder->path() / "extensions";
    const auto done = testing::runProgram(python, {"-I", script, taskPath(GetParam()), file.string()},
                                          environment(extensions), folder->path());
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_EQ(done->exitCode, 0) << done->log;
    std::printf("%s: %s", GetParam().c_str(), done->log.c_str());
    // The object lies where C++ says, so that a worker can build it ahead.
    const auto object = exportObjectName(wanted);
    ASSERT_TRUE(object);
    EXPECT_TRUE(std::filesystem::exists(extensions / *object)) << *object;
}

INSTANTIATE_TEST_SUITE_P(Vectors, ExportedFile, ::testing::ValuesIn(vectorNames()),
                         [](const auto &vector) { return vector.param; });

TEST(Export, usesAnObjectThatWasBuiltAheadAndNeedsNoCompilerThen)
{
    const char *python = std::getenv("HEDDLE_PYTHON");
    if (python == nullptr)
        GTEST_SKIP() << "HEDDLE_PYTHON names no Python with torch";
    const ExportRequest wanted = request("repeat_scan");
    const auto command = exportCompileCommand(wanted, "/usr/bin/g++");
    ASSERT_TRUE(command);
    const auto built = testing::launchPlainly(*command, {});
    ASSERT_TRUE(built);
    ASSERT_EQ(built->exitCode, 0) << built->log;
    EXPECT_EQ(built->log, "") << "an export compiles without a warning";
    const auto folder = TempFolder::create("heddle-export-");
    const auto object = folder->path() / *exportObjectName(wanted);
    ASSERT_TRUE(makeFolder(object.parent_path()));
    ASSERT_TRUE(writeFileAtomically(object, built->object));
    ASSERT_TRUE(writeFileAtomically(folder->path() / "model_new.py", *exportModelNew(wanted)));
    auto variables = environment(folder->path());
    variables["CXX"] = "/nowhere/g++";
    const std::string script = std::string(HEDDLE_SOURCE_DIR) + "/tests/core/export/check_export.py";
    const auto done = testing::runProgram(
        python, {"-I", script, taskPath("repeat_scan"), (folder->path() / "model_new.py").string()},
        variables, folder->path());
    ASSERT_TRUE(done);
    EXPECT_EQ(done->exitCode, 0) << done->log;
}

TEST(Export, theNativeFolderIsTheSameCandidateWithItsTunablesAsDefaults)
{
    const ExportRequest wanted = request("bias_gelu");
    const auto tree = exportNative(wanted.plan, wanted.files, {{"CHUNK", 1024}});
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->at("kernel.cpp"), wanted.files.at("kernel.cpp"));
    const auto plan = parsePlan(*tree);
    ASSERT_TRUE(plan) << plan.error().text();
    EXPECT_EQ(plan->tunables.at("CHUNK").defaultValue, 1024);
    EXPECT_FALSE(exportNative(wanted.plan, wanted.files, {{"CHUNK", 3}}));
}

TEST(Export, aCudaCandidateAndATaskWithoutAClassAreNotCoveredByName)
{
    const auto cuda = exportModelNew(request("bias_gelu", "cuda"));
    ASSERT_FALSE(cuda);
    EXPECT_EQ(cuda.error().code(), Code::NotCovered);
    ExportRequest other = request("bias_gelu");
    other.taskSource = "from elsewhere import Model\n";
    const auto made = exportModelNew(other);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), Code::NotCovered);
    EXPECT_EQ(made.error().where(), "Model");
}

TEST(Export, theFileNameOfTheObjectFollowsSourcesTunablesAndShapes)
{
    const ExportRequest base = request("bias_gelu");
    ExportRequest tuned = base;
    tuned.tunables["CHUNK"] = 1024;
    ExportRequest edited = base;
    edited.files["kernel.cpp"] += "// more\n";
    const std::string name = *exportObjectName(base);
    EXPECT_EQ(name, *exportObjectName(base));
    EXPECT_NE(name, *exportObjectName(tuned));
    EXPECT_NE(name, *exportObjectName(edited));
}

} // namespace
} // namespace heddle
