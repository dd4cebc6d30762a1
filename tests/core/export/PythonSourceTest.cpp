// SPDX-License-Identifier: Apache-2.0
#include "core/export/PythonSource.h"

#include "core/export/Python.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

const char *const task = R"py("""A task; class Model: in a string."""
from __future__ import annotations
import torch


class Base(torch.nn.Module):
    def forward(self, x):
        return x


class Model(Base):
    """Text with
def forward(self): inside
    """

    def __init__(self, n: int) -> None:
        super(Model, self).__init__()  # Model
        self.Model = n

    @torch.no_grad()
    def forward(
        self, x: torch.Tensor, *rest, scale: dict[str, int] = {"a:b": 1}, **more
    ) -> tuple[Model, int]:
        y = f"""
        def odd():
        """
        if x is None:
            return None

        return x

    # A remark about helper.
    def helper(self):
        return "Model"


@decorated
def get_inputs():
    return [torch.ones(3)]


def get_init_inputs(): return [Model]
size = 3
)py";

TEST(PythonSource, keepsTheFileButForwardAndTheInputFunctions)
{
    const auto split = splitTask(task);
    ASSERT_TRUE(split) << split.error().text();
    const std::string &text = split->text;
    EXPECT_NE(text.find("class _Reference(Base):"), std::string::npos) << text;
    EXPECT_NE(text.find("super(_Reference, self).__init__()  # Model"), std::string::npos) << text;
    EXPECT_NE(text.find("self.Model = n"), std::string::npos);
    EXPECT_NE(text.find("return \"Model\""), std::string::npos);
    EXPECT_NE(text.find("class Base(torch.nn.Module):\n    def forward(self, x):\n        return x"),
              std::string::npos);
    EXPECT_NE(text.find("    # A remark about helper.\n    def helper"), std::string::npos) << text;
    EXPECT_NE(text.find("size = 3"), std::string::npos);
    EXPECT_EQ(text.find("__future__"), std::string::npos)
        << "it must come before all else, so it is kept apart";
    EXPECT_EQ(split->future, "from __future__ import annotations\n");
    for (const char *gone :
         {"def odd", "get_inputs", "get_init_inputs", "@decorated", "@torch.no_grad", "rest"})
        EXPECT_EQ(text.find(gone), std::string::npos) << gone << '\n' << text;
}

TEST(PythonSource, readsTheHeaderOfForward)
{
    const auto split = splitTask(task);
    ASSERT_TRUE(split);
    EXPECT_EQ(split->forwardHeader.rfind("def forward(\n", 0), 0u) << split->forwardHeader;
    EXPECT_TRUE(split->forwardHeader.ends_with("-> tuple[_Reference, int]:")) << split->forwardHeader;
    EXPECT_EQ(split->self, "self");
    EXPECT_EQ(split->parameters, (std::vector<std::string>{"x", "scale"}));
    EXPECT_EQ(split->variadic, "rest");
    EXPECT_EQ(split->keywords, "more");
}

TEST(PythonSource, aClassThatHasOnlyForwardStaysAClass)
{
    const auto split = splitTask("class Model(nn.Module):\n    def forward(self, x): return x\n");
    ASSERT_TRUE(split);
    EXPECT_NE(split->text.find("\n    pass\n"), std::string::npos) << split->text;
    EXPECT_EQ(split->forwardHeader, "def forward(self, x):");
    const auto withMore =
        splitTask("class Model(nn.Module):\n    bias = 1\n    def forward(self, x): return x\n\n\n"
                  "def get_inputs():\n    return []\n\n\ndef get_init_inputs():\n    return []\n");
    ASSERT_TRUE(withMore);
    EXPECT_EQ(withMore->text,
              "class _Reference(nn.Module):\n    bias = 1\n    # forward is replaced by ModelNew below.\n");
    EXPECT_FALSE(splitTask("Model = make()\n"));
    EXPECT_FALSE(splitTask("class Model(Base):\n    pass\n"));
    EXPECT_FALSE(splitTask(""));
}

TEST(Python, namesOfInputsBecomeExpressions)
{
    ReferenceSource reference;
    reference.parameters = {"x", "pair"};
    reference.variadic = "rest";
    reference.keywords = "more";
    EXPECT_EQ(pythonAccess("input:x", reference), "x");
    EXPECT_EQ(pythonAccess("input:rest.1", reference), "rest[1]");
    EXPECT_EQ(pythonAccess("input:pair.left.0", reference), "pair[\"left\"][0]");
    EXPECT_EQ(pythonAccess("input:scale", reference), "more[\"scale\"]");
}

TEST(Python, resultsKeepTheirStructure)
{
    const Json outputs = {{{"path", "a"}}, {{"path", "b.0"}}, {{"path", "b.1"}}};
    ReferenceSource reference;
    reference.text = "from fields import Other\nPair = namedtuple('Pair', 'left right')\n";
    const auto sequence = [](const char *kind) {
        return Json{{"t", kind}, {"name", "Pair"}, {"v", {"tensor", "tensor"}}};
    };
    const auto inDict = [&](const Json &b) {
        Json pairs = Json::array();
        pairs.push_back(Json::array({"b", b}));
        pairs.push_back(Json::array({"c", nullptr}));
        pairs.push_back(Json::array({"a", "tensor"}));
        return Json{{"t", "dict"}, {"v", pairs}};
    };
    const auto written = [&](const Json &tree) { return *pythonResult(tree, outputs, reference); };
    EXPECT_EQ(written(inDict(sequence("tuple"))), "{\"b\": (out1, out2), \"c\": None, \"a\": out0}");
    EXPECT_EQ(written(inDict(sequence("list"))), "{\"b\": [out1, out2], \"c\": None, \"a\": out0}");
    EXPECT_EQ(written(inDict(sequence("named_tuple"))),
              "{\"b\": Pair(*(out1, out2)), \"c\": None, \"a\": out0}");
    EXPECT_EQ(written(inDict(sequence("return_type"))),
              "{\"b\": _torch.return_types.Pair((out1, out2)), \"c\": None, \"a\": out0}");
    Json byField = sequence("named_tuple");
    byField["keys"] = {"left", "right"};
    EXPECT_EQ(*pythonResult(byField, {{{"path", "left"}}, {{"path", "right"}}}, reference),
              "Pair(*(out0, out1))");
    Json ordered = inDict(sequence("list"));
    ordered["t"] = "ordered_dict";
    EXPECT_EQ(written(ordered), "_OrderedDict([(\"b\", [out1, out2]), (\"c\", None), (\"a\", out0)])");
    Json pairs = Json::array();
    pairs.push_back(Json::array({7, "tensor"}));
    EXPECT_EQ(*pythonResult({{"t", "dict"}, {"v", pairs}}, {{{"path", "7"}}}, reference), "{7: out0}");
    EXPECT_EQ(*pythonResult("tensor", {{{"path", ""}}}, reference), "out0");
    EXPECT_FALSE(pythonResult("tensor", {{{"path", "0"}}}, reference));
}

TEST(Python, aResultOfAClassOutOfReachIsNotCoveredByItsName)
{
    const Json outputs = {{{"path", "0"}}};
    const auto unknown =
        pythonResult({{"t", "named_tuple"}, {"name", "Pair"}, {"v", {"tensor"}}}, outputs, ReferenceSource());
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code(), Code::NotCovered);
    const auto other = pythonResult({{"t", "other"}, {"name", "lib.Output"}}, outputs, ReferenceSource());
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message().find("lib.Output"), std::string::npos);
}

TEST(PythonSource, knowsWhichNamesTheTopOfAFileBinds)
{
    const std::string text = "from a import (One,\n    Two)\nclass Three: pass\nFour = 4\nprint(Five == 5)\n"
                             "def f():\n    Six = 6\n";
    for (const char *name : {"One", "Two", "Three", "Four", "f"})
        EXPECT_TRUE(definesName(text, name)) << name;
    for (const char *name : {"Five", "Six", "Fou", "our"})
        EXPECT_FALSE(definesName(text, name)) << name;
}

TEST(Python, valuesAndStringsAreLiterals)
{
    EXPECT_EQ(*pythonValue(nullptr), "None");
    EXPECT_EQ(*pythonValue(true), "True");
    EXPECT_EQ(*pythonValue(0.125), "0.125");
    EXPECT_EQ(*pythonValue({{"t", "float"}, {"v", "-inf"}}), "float(\"-inf\")");
    EXPECT_EQ(*pythonValue({{"t", "tuple"}, {"v", {1, "a"}}}), "(1, \"a\", )");
    EXPECT_FALSE(pythonValue({{"t", "tensor"}}));
    EXPECT_EQ(pythonString("a\"\\\n\x01"), "\"a\\\"\\\\\\n\\x01\"");
    EXPECT_EQ(pythonString("x\\n = 1\n"), "r\"\"\"\nx\\n = 1\n\"\"\"[1:]");
    EXPECT_EQ(pythonShape({}), "()");
    EXPECT_EQ(pythonShape({5}), "(5,)");
    EXPECT_EQ(pythonShape({5, 6}), "(5, 6)");
}

} // namespace
} // namespace heddle
