#!/usr/bin/env python3
"""The checker of the documents fails on each kind of fault, and passes on a tree without faults."""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("check_docs", ROOT / "tools/check_docs.py")
check_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_docs)

TREE = {
    "tools/check_layers.py": 'TIERS = [["base"], ["kv", "net"]]\n'
                             'HOMES = {"fmt/": None, "xxhash.h": ["base"], "rocksdb/": ["kv"]}\n'
                             'INSIDE = {"base": ["files", "bytes"]}\n',
    "CMakeLists.txt": "kin_layer(base)\n",
    "LICENSE": "",
    "CONTRIBUTING.md": "See `src/base/result.h`, `src/<room>/x.h`, `build/dev/x` and "
                       "[the map](docs/architecture.md#rooms).\n",
    "docs/glossary.md": "",
    "docs/architecture.md": "```\nbase → { kv | net }\n```\n"
                            "| `base` | what is a failure? | xxHash `xxhash.h` |\n"
                            "| `kv` | where do bytes live? (planned) | `rocksdb/` |\n"
                            "| `net` | how do I speak? (planned) | – |\n"
                            "| `base` | `files` → `bytes` |\n",
    "src/base/result.h": "",
    "src/base/README.md": "| `result.h` | a failure |\n`files/` and `bytes/`\n",
    "Makefile": "JOBS ?= 2\nhelp:\n\t@echo\nsetup:\n\t@true\nbuild: setup\n\t@true\n"
                "demo: build\n\t@true\nasan tsan: setup\n\t@true\n",
    ".ci/run": "# make asan\nmake demo\n",
    "scripts/demo": "#!/bin/bash\nrun build/release/kindred dedup a.jsonl -o b.jsonl\n",
    "tests/cases/a.case": "=== $ kindred plan a.jsonl\n",
    "docs/benchmarks.md": "# Figures\n",
    "docs/reliability.md": "# What was tried\n",
    "docs/formats.md": "# Formats\n",
}
QUICKSTART = "<!-- ci: quickstart -->\n```sh\n{}\n```\n"
TREE["README.md"] = "# A\n" + QUICKSTART.format("make demo")


class CheckDocs(unittest.TestCase):
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

    def replace(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def faults(self, check):
        return "\n".join(check(self.root))

    def test_a_sound_tree_has_no_faults(self):
        for check in ("presence", "lengths", "paths", "architecture", "readmes", "quickstart"):
            self.assertEqual(self.faults(getattr(check_docs, f"check_{check}")), "", check)

    def test_a_missing_document_is_a_fault(self):
        (self.root / "docs/glossary.md").unlink()
        self.assertIn("docs/glossary.md is missing", self.faults(check_docs.check_presence))

    def test_a_long_document_is_a_fault(self):
        self.write("src/base/README.md", "line\n" * 46)
        self.assertIn("46 lines, at most 45", self.faults(check_docs.check_lengths))

    def test_paths_that_do_not_exist_are_faults(self):
        self.write("docs/a.md", "`src/base/gone.h` `docs/adr/0001-….md` `src/nowhere/*.h`\n"
                                "run `python3 tests/gone.py x` in `other/folder`\n"
                                "```\n`src/in/a/block.h`\n```\n")
        found = self.faults(check_docs.check_paths)
        for path in ("src/base/gone.h", "docs/adr/0001-….md", "src/nowhere/*.h", "tests/gone.py"):
            self.assertIn(f"`{path}` does not exist", found)
        self.assertEqual(len(found.splitlines()), 4, found)

    def test_a_link_that_leads_nowhere_is_a_fault(self):
        self.write("docs/a.md", "[a](gone.md) [b](architecture.md) [c](https://x.org) [d](#here)\n")
        self.assertEqual(self.faults(check_docs.check_paths), "docs/a.md:1: the link to gone.md leads nowhere")

    def test_another_order_of_rooms_is_a_fault(self):
        self.replace("docs/architecture.md", "{ kv | net }", "kv → net")
        self.assertIn("differs from TIERS", self.faults(check_docs.check_architecture))

    def test_another_home_is_a_fault(self):
        self.replace("docs/architecture.md", "`rocksdb/`", "–")
        self.assertIn("'kv' is home of [] there", self.faults(check_docs.check_architecture))

    def test_a_room_outside_the_table_is_a_fault(self):
        self.write("src/attic/README.md", "")
        self.assertIn("src/attic is not in the table", self.faults(check_docs.check_architecture))

    def test_planned_means_not_built(self):
        self.replace("docs/architecture.md", "how do I speak? (planned)", "how do I speak?")
        self.assertIn("'net' is not built", self.faults(check_docs.check_architecture))
        self.write("CMakeLists.txt", "kin_layer(base)\nkin_layer(net)\nkin_layer(kv)\n")
        self.assertIn("'kv' is built", self.faults(check_docs.check_architecture))

    def test_a_room_without_a_readme_is_a_fault(self):
        (self.root / "src/base/README.md").unlink()
        self.assertIn("src/base/README.md is missing", self.faults(check_docs.check_architecture))

    def test_another_order_of_folders_is_a_fault(self):
        self.replace("docs/architecture.md", "`files` → `bytes`", "`bytes` → `files`")
        self.assertIn("differs from INSIDE", self.faults(check_docs.check_architecture))

    def test_a_readme_lists_the_door_and_nothing_else(self):
        self.write("src/base/id.h", "")
        self.replace("src/base/README.md", "`files/`", "| `gone.h` | nothing |\n")
        self.replace("src/base/README.md", "| `gone.h`", "\n| `gone.h`")
        found = self.faults(check_docs.check_readmes)
        self.assertIn("lacks `id.h`", found)
        self.assertIn("`gone.h` is not in the door", found)
        self.assertIn("`files/` is not mentioned", found)

    def quickstart(self, command):
        self.write("README.md", QUICKSTART.format(command))
        return self.faults(check_docs.check_quickstart)

    def test_the_quickstart_may_hold_what_ci_runs(self):
        self.assertEqual(self.quickstart("$ make demo   # a minute\nmake build setup"), "")
        self.assertEqual(self.quickstart("build/release/kindred dedup a.jsonl -o b.jsonl"), "")
        self.assertEqual(self.quickstart("kindred plan a.jsonl"), "")

    def test_the_quickstart_may_not_hold_anything_else(self):
        self.assertIn("no target fly", self.quickstart("make fly"))
        self.assertIn(".ci/run does not run asan", self.quickstart("make asan"))
        self.assertIn("neither scripts/demo nor a case", self.quickstart("kindred plan b.jsonl"))
        self.assertIn("make and kindred commands only", self.quickstart("npm install"))

    def test_a_readme_without_a_quickstart_is_a_fault(self):
        self.write("README.md", "```sh\nmake fly\n```\n")
        self.assertIn("no sh block is marked", self.faults(check_docs.check_quickstart))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
