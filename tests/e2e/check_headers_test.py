#!/usr/bin/env python3
"""The checker of headers refuses those that do not stand alone and types of one name, and passes on a sound tree."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_headers", ROOT / "tools/check_headers.py")
check_headers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_headers)

TREE = {
    "cmake/pch.h": "#include <string>\n#include <string_view>\n#include <vector>\n",
    "src/base/words.h": "#include <string>\nstd::string joined(std::string_view a);  // not a std::vector\n",
    "src/base/words.cc": '#include "base/words.h"\n\n#include <vector>\n',
    "src/base/lines.h": '#include "base/words.h"\nstd::string line();\n',
}


class CheckHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in TREE.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def refuses(self, name, text, *words):
        self.write(name, text)
        found = list(check_headers.faults(self.root))
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_passes_a_sound_tree(self):
        self.assertEqual(list(check_headers.faults(self.root)), [])

    def test_refuses_a_name_whose_header_only_the_precompiled_one_has(self):
        self.refuses("src/base/lines.h", '#include "base/words.h"\nstd::vector<int> v();\n', "src/base/lines.h", "#include <vector>")

    def test_refuses_a_source_file_that_includes_another_header_before_its_own(self):
        self.refuses("src/base/words.cc", '#include <vector>\n\n#include "base/words.h"\n', "src/base/words.cc", "first")

    def test_refuses_two_types_of_one_name(self):
        self.write("src/base/plan.h", "namespace kin {\nstruct Plan {\n};\n}\n")
        self.refuses("src/base/cut.h", "namespace kin {\nclass Plan final : public Line {\n};\nstruct Plan::Inner {\n};\n}\n",
                     "kin::Plan", "src/base/cut.h", "src/base/plan.h")

    def test_wants_to_know_the_names_of_a_header_that_is_precompiled(self):
        self.refuses("cmake/pch.h", TREE["cmake/pch.h"] + "#include <regex>\n", "<regex>", "NAMES")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
