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
    EXPECT_EQ(*pythonResult({{"a", "tensor"}, {"b", {"tensor", "tensor"}}, {"c", nullptr}}, outputs),
              "{\"a\": out0, \"b\": (out1, out2), \"c\": None}");
    EXPECT_EQ(*pythonResult("tensor", {{{"path", ""}}}), "out0");
    EXPECT_FALSE(pythonResult("tensor", {{{"path", "0"}}}));
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
