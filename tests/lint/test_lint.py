# SPDX-License-Identifier: Apache-2.0
"""Each check finds what it exists to find: a planted violation in a small tree, and nothing in a clean one."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import check_commits
import check_docs
import check_errors
import check_files
import check_layers
from tree import without_comments_and_strings

CLEAN = "// SPDX-License-Identifier: Apache-2.0\n"
GPL = "// SPDX-License-Identifier: GPL-3.0-or-later\n"
LAYERS = """
[folders]
"core/base" = { may_include = [] }
"core/json" = { may_include = ["core/base"] }
"widgets/common" = { may_include = ["core/base"] }
"tests" = { may_include = ["core/*"] }
[externals]
Qt = { header = 'Q[A-Z]', allowed = ["widgets/*"] }
nlohmann_json = { header = 'nlohmann/', allowed = ["core/json"] }
"""


class Planted(unittest.TestCase):
    """A throwaway tree, without git."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def messages(self, check) -> str:
        return "\n".join(str(finding) for finding in check(self.root))


class Layers(Planted):
    def setUp(self) -> None:
        super().setUp()
        self.plant("docs/architecture/layers.toml", LAYERS)

    def test_an_include_that_points_down_is_allowed(self) -> None:
        self.plant("core/json/Json.h", CLEAN + '#include "core/base/Error.h"\n#include <nlohmann/json.hpp>\n')
        self.plant("tests/core/json/JsonTest.cpp", CLEAN + '#include "core/json/Json.h"\n')
        self.assertEqual(self.messages(check_layers.check), "")

    def test_an_include_that_points_up_is_found_with_its_line(self) -> None:
        self.plant("core/base/Error.h", CLEAN + '\n#include "core/json/Json.h"\n')
        self.assertIn("core/base/Error.h:3: core/base may not include core/json", self.messages(check_layers.check))

    def test_qt_in_the_core_is_found(self) -> None:
        self.plant("core/base/Error.h", CLEAN + "#include <QString>\n")
        self.assertIn("core/base may not include Qt", self.messages(check_layers.check))

    def test_nlohmann_outside_its_folder_is_found(self) -> None:
        self.plant("core/base/Error.h", CLEAN + "#include <nlohmann/json.hpp>\n")
        self.assertIn("may not include nlohmann_json", self.messages(check_layers.check))

    def test_a_folder_that_the_table_lacks_is_found(self) -> None:
        self.plant("core/fresh/New.h", CLEAN)
        self.assertIn("its folder is not in", self.messages(check_layers.check))

    def test_an_include_without_its_folder_is_found(self) -> None:
        self.plant("core/base/Error.cpp", CLEAN + '#include "Error.h"\n')
        self.assertIn("included without its folder", self.messages(check_layers.check))

    def test_an_include_inside_a_written_kernel_is_no_include_of_ours(self) -> None:
        self.plant("core/base/Error.cpp", CLEAN + 'auto text = R"(\n#include "heddle_cpu.h"\n)";\n')
        self.assertEqual(self.messages(check_layers.check), "")

    def test_a_cycle_in_the_table_is_found(self) -> None:
        self.plant("docs/architecture/layers.toml",
                   LAYERS.replace('"core/base" = { may_include = [] }', '"core/base" = { may_include = ["core/json"] }'))
        self.assertIn("cycle", self.messages(check_layers.check))


class Files(Planted):
    def found_in(self, text: str, name: str = "widgets/common/View.cpp") -> str:
        self.plant(name, text)
        self.plant(name.rsplit("/", 1)[0] + "/README.md", "# It\n")
        return self.messages(check_files.check)

    def test_a_clean_file_has_no_findings(self) -> None:
        self.assertEqual(self.found_in(GPL + "int a();\n"), "")

    def test_a_missing_licence_line_is_found(self) -> None:
        self.assertIn("first line must say SPDX-License-Identifier: GPL-3.0-or-later", self.found_in("int a();\n"))

    def test_the_licence_of_another_layer_is_found(self) -> None:
        self.assertIn("must say SPDX-License-Identifier: GPL", self.found_in(CLEAN))
        self.assertIn("must say SPDX-License-Identifier: Apache", self.found_in(GPL, "core/base/A.cpp"))

    def test_a_script_has_its_licence_below_the_interpreter(self) -> None:
        self.assertEqual(self.found_in("#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n", "packaging/a.sh"), "")

    def test_a_long_file_is_found(self) -> None:
        self.assertEqual(self.found_in(GPL + "int a();\n" * 799), "")
        self.assertIn("the limit is 800", self.found_in(GPL + "int a();\n" * 800))

    def test_a_folder_without_a_readme_is_found(self) -> None:
        self.plant("core/base/A.cpp", CLEAN)
        self.assertIn("has no README.md", self.messages(check_files.check))

    def test_the_single_main_of_a_program_inside_a_described_folder_needs_none(self) -> None:
        self.plant("core/base/README.md", "# It\n")
        self.plant("core/base/launch/main.cpp", CLEAN)
        self.assertEqual(self.messages(check_files.check), "")
        self.plant("core/base/launch/Second.cpp", CLEAN)
        self.assertIn("core/base/launch:1: this folder has no README.md", self.messages(check_files.check))

    def test_a_long_readme_is_found(self) -> None:
        self.plant("core/base/README.md", "line\n" * 61)
        self.assertIn("at most 60", self.messages(check_files.check))

    def test_tabs_trailing_space_and_a_missing_newline_are_found(self) -> None:
        self.assertIn("a tab", self.found_in(GPL + "\tint a();\n"))
        self.assertIn("space at the end", self.found_in(GPL + "int a(); \n"))
        self.assertIn("no newline", self.found_in(GPL + "int a();"))

    def test_words_of_unfinished_work_are_found(self) -> None:
        for word in ("TO" + "DO", "FIX" + "ME", "a st" + "ub", "place" + "holder", "not imple" + "mented"):
            self.assertIn("unfinished work", self.found_in(GPL + f"// {word}: later\n"), word)

    def test_the_same_words_in_other_peoples_interfaces_are_not(self) -> None:
        hint = "place" + "holder"
        self.assertEqual(self.found_in(GPL + f"void f() {{ edit->set{hint.title()}Text(x); }}\n"), "")
        self.assertEqual(self.found_in(f'# SPDX-License-Identifier: Apache-2.0\nif node.op == "{hint}":\n    pass\n',
                                       "core/python/heddle_oracle/capture.py"), "")

    def test_a_path_of_this_machine_is_found(self) -> None:
        self.assertIn("path of one machine", self.found_in(GPL + "// see /wo" + "rk/main/core\n"))

    def test_a_connect_without_context_is_found(self) -> None:
        self.assertIn("without a context object",
                      self.found_in(GPL + "void f() { connect(button, &QPushButton::clicked, [x] { use(x, 1); }); }\n"))
        self.assertIn("without a context object", self.found_in(GPL + "void f() { QTimer::singleShot(0, [x] {}); }\n"))

    def test_a_connect_with_context_is_not(self) -> None:
        self.assertEqual(self.found_in(GPL + "void f() { connect(b, &B::clicked, this, [this] { go(1, 2); }); }\n"), "")
        self.assertEqual(self.found_in(GPL + "void f() { QTimer::singleShot(0, this, [this] {}); }\n"), "")

    def test_a_connect_that_captures_by_reference_is_found(self) -> None:
        self.assertIn("captures by reference",
                      self.found_in(GPL + "void f() { connect(b, &B::clicked, this, [&] { go(); }); }\n"))

    def test_tr_without_a_context_is_found(self) -> None:
        self.assertIn("no translation context", self.found_in(GPL + 'QString f() { return tr("Open"); }\n'))

    def test_tr_in_a_class_with_q_object_is_not(self) -> None:
        self.plant("widgets/common/View.h", GPL + "class View : public QWidget { Q_OBJECT };\n")
        self.assertEqual(self.found_in(GPL + 'QString View::f() { return tr("Open"); }\n'), "")

    def test_tr_in_a_second_file_of_such_a_class_is_not(self) -> None:
        self.plant("widgets/common/View.h", GPL + "class View : public QWidget { Q_OBJECT };\n")
        text = GPL + '#include "widgets/common/View.h"\nQString View::f() { return tr("Open"); }\n'
        self.assertEqual(self.found_in(text, "widgets/common/ViewMenus.cpp"), "")

    def test_inputs_of_tests_are_left_as_they_are(self) -> None:
        self.assertEqual(self.found_in("def broken(:\n\tpass", "tests/core/task/data/broken.py"), "")


class Docs(Planted):
    def test_a_cited_path_that_exists_is_fine(self) -> None:
        self.plant("core/base/Error.h", CLEAN)
        self.plant("docs/a.md", "See `core/base/Error.h` and `core/base` and [b](a.md).\n")
        self.assertEqual(self.messages(check_docs.check), "")

    def test_a_cited_path_that_does_not_exist_is_found(self) -> None:
        self.plant("docs/a.md", "One.\nSee `core/base/Gone.h`.\n")
        self.assertIn("docs/a.md:2: cites core/base/Gone.h", self.messages(check_docs.check))

    def test_a_dead_link_is_found(self) -> None:
        self.plant("docs/a.md", "See [it](gone.md).\n")
        self.assertIn("links to gone.md", self.messages(check_docs.check))

    def test_a_gap_between_decisions_and_a_missing_section_are_found(self) -> None:
        self.plant("docs/decisions/0002-b.md", "# B\n## Context\n## Decision\n## Alternatives\n## Consequences\n")
        found = self.messages(check_docs.check)
        self.assertIn("should be 0001", found)
        self.assertIn("Accepted risks", found)


class Errors(Planted):
    def plant_codes(self, words: str) -> None:
        self.plant("core/base/Error.h", "enum class Code {\n    Io, ///< refused, by Nobody\n    Internal,\n};\n")
        self.plant("core/base/Error.cpp", words)

    def test_every_code_with_a_word_passes(self) -> None:
        self.plant_codes("Code::Io Code::Internal\n")
        self.assertEqual(self.messages(check_errors.check), "")

    def test_a_code_without_a_word_is_found(self) -> None:
        self.plant_codes("Code::Io\n")
        self.assertIn("Code::Internal has no word", self.messages(check_errors.check))

    def test_a_code_without_a_sentence_in_the_window_is_found(self) -> None:
        self.plant_codes("Code::Io Code::Internal\n")
        self.plant("widgets/common/ErrorText.cpp", "Code::Io\n")
        self.assertIn("Code::Internal has no sentence", self.messages(check_errors.check))


class Commits(unittest.TestCase):
    def test_a_subject_in_our_form_passes(self) -> None:
        for subject in ("bench: stop timing a kernel that failed verification", "core/plan: refuse a cycle of symbols",
                        "runtime: NVRTC errors name the file"):
            self.assertIsNone(check_commits.problem(subject), subject)

    def test_any_other_subject_is_found(self) -> None:
        for subject in ("Fix the bug", "bench: Fix it", "bench: stop timing.", "bench: fix", "bench: " + "a" * 110):
            self.assertIsNotNone(check_commits.problem(subject), subject)


class Cleaning(unittest.TestCase):
    def test_comments_and_literals_are_blanked_in_place(self) -> None:
        source = 'a(); // connect(\nb("tr(", \'"\', R"x(tr()x", 1\'000);\n/* c\n */ d();'
        clean = without_comments_and_strings(source)
        self.assertEqual(len(clean), len(source))
        self.assertEqual(clean.count("\n"), source.count("\n"))
        self.assertNotIn("tr(", clean)
        self.assertNotIn("connect", clean)
        self.assertIn("d();", clean)


if __name__ == "__main__":
    unittest.main()
