#!/usr/bin/env python3
"""The runner of the cases must fail when a case does not hold, and say why."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent.parent / "run_case.py"


class RunCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.case = pathlib.Path(self.folder.name) / "a.case"

    def run_case(self, text, *options):
        self.case.write_text(text)
        done = subprocess.run([sys.executable, str(RUNNER), *options, "/bin/true", str(self.case)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_fails(self, text, *shown):
        code, output = self.run_case(text)
        self.assertEqual(code, 1, output)
        for part in shown:
            self.assertIn(part, output)

    def assert_passes(self, text):
        code, output = self.run_case(text)
        self.assertEqual(code, 0, output)

    def test_an_unexpected_exit_code_fails_and_shows_stderr(self):
        self.assert_fails("=== $ echo the reason >&2; exit 4\n", "exit code 4, expected 0", "the reason")
        self.assert_fails("=== $ true\n=== exit 1\n", "exit code 0, expected 1")

    def test_other_output_fails_with_a_diff(self):
        self.assert_fails("=== $ echo b\n=== stdout\na\n", "-a", "+b")
        self.assert_fails("=== $ echo b >&2\n=== stderr\n", "+b")

    def test_patterns_match_only_what_they_say(self):
        self.assert_passes("=== $ printf '1\\n2\\n3\\n'\n=== stdout\n…\n3\n")
        self.assert_fails("=== $ printf '1\\n2\\n3\\n'\n=== stdout\n…\n2\n", "+1")
        self.assert_passes("=== $ echo 12 s\n=== stdout\nre: [0-9]+ s\n")
        self.assert_fails("=== $ echo x12 s\n=== stdout\nre: [0-9]+ s\n", "x12 s")
        self.assert_fails("=== $ echo a.c\n=== stdout\na.c…d\n", "a.c")

    def test_a_file_is_compared_byte_for_byte(self):
        self.assert_passes("=== $ printf 'a\\n' > f\n=== expect f\na\n")
        self.assert_fails("=== $ printf a > f\n=== expect f\na\n", "last line break")
        self.assert_fails("=== $ printf 'a \\n' > f\n=== expect f\na\n", "+a ")
        self.assert_fails("=== $ true\n=== expect f\na\n", "f does not exist")

    def test_a_body_keeps_all_blank_lines_but_the_separating_one(self):
        self.assert_passes("=== file f\na\n\n\n=== $ wc -l < f\n=== stdout\n2\n")

    def test_files_that_must_not_exist_fail(self):
        self.assert_fails("=== $ touch f.tmp\n=== absent *.tmp\n", "must not exist: f.tmp")
        self.assert_fails("=== $ touch f g\n=== files\nf\n", "+g")

    def test_json_needs_the_keys_given_and_every_line(self):
        lines = "=== file f\n{\"a\": 1, \"b\": 0.5}\n{\"a\": 2, \"b\": 1}\n\n=== $ true\n=== json f\n"
        self.assert_passes(lines + '{"a": 1}\n{"b": 1.0}\n')
        self.assert_fails(lines + '{"a": 1}\n{"b": 0.9}\n', '"b": 0.9')
        self.assert_fails(lines + '{"a": 1}\n{"c": "…"}\n', '"c"')
        self.assert_fails(lines + '{"a": 1}\n', "+")
        self.assert_fails(lines + '{"a": true}\n{"a": 2}\n', "true")

    def test_a_missing_tool_skips(self):
        code, output = self.run_case("needs: no-such-tool-anywhere\n=== $ false\n")
        self.assertEqual(code, 0)
        self.assertIn("skipped, no-such-tool-anywhere is not installed", output)

    def test_a_malformed_case_is_an_error(self):
        self.assert_fails("=== sdtout\n", "not a kind of section")
        self.assert_fails("nothing\n", "there is no command")
        self.assert_fails("=== stdout\n=== $ true\n", "before the first command")

    def test_update_writes_what_came_out_and_then_holds(self):
        text = ("What it proves.\n\n=== $ printf 'a\\n\\n'; printf b > f; exit 2\n=== stdout\n=== stderr\n"
                "=== expect f\nold\n\n=== $ echo took 3 s\n=== stdout\ntook … s\n")
        code, output = self.run_case(text, "--update")
        self.assertEqual(code, 0, output)
        updated = self.case.read_text()
        self.assertIn("=== exit 2\n=== stdout\na\n\n\n=== stderr\n=== expect f (no newline)\nb\n\n", updated)
        self.assertTrue(updated.endswith("=== stdout\ntook … s\n"))
        self.assert_passes(updated)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
