#!/usr/bin/env python3
"""Runs whole-program cases: plain text files with a command, its input and the expected output.

usage: run_case.py [--update] KINDRED_BINARY CASE_FILE...

A case begins with free text that says what it proves, then sections. A section starts with a line
"=== KIND ARGUMENTS" and its body is every line up to the next one; one blank line at its end
separates it from the next section and is not part of the body.

    Removing an exact duplicate keeps the first line as it was.
    needs: zstd

    === file in.jsonl
    {"text": "one"}
    {"text": "one"}

    === $ kindred dedup in.jsonl -o out.jsonl
    === exit 0
    === expect out.jsonl
    {"text": "one"}

Before the first section, "needs: TOOL..." skips the case where a tool is not installed.

    file NAME          makes a file. "file NAME (no newline)" leaves off its last line break.
    $ COMMAND          runs COMMAND with bash; a body continues the script. What follows, up to the
                       next command, is about this one. Files that are not text are made this way too:
                       "=== $ gzip in.jsonl", "=== $ printf '\\xff' > bad.jsonl".
    exit N             its exit code; 0 where no exit section says otherwise.
    stdout, stderr     what it printed, line by line. "…" in a line stands for anything within it; a
                       line of "…" alone for any number of lines; "re: PATTERN" for a line that
                       matches the whole of a Python pattern. Without a section it is not checked.
    expect NAME        the file, byte for byte. Takes "(no newline)" as well.
    like NAME          the file, line by line, with the patterns of stdout.
    json NAME          the file (or stdout, stderr) as JSON: one value, or one per line. An object must
                       have the keys given, with those values; it may have more. Numbers with a
                       fraction agree to four places; the string "…" stands for any value.
    files              every file in the folder now, one path per line, sorted.
    absent NAME...     no such file; wildcards are allowed.

Each case runs in a fresh folder, which is the working folder, with a clean environment: HOME,
KINDRED_DATA and TMPDIR are folders of their own, KINDRED_ROOT is the repository, `kindred` is the
binary, standard input is empty. In what is printed, the working folder's path reads $WORK.

--update rewrites the sections that do not hold from what the commands really gave; an empty section
is filled in. Read the difference before committing it.
"""
import argparse
import difflib
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 900
NO_NEWLINE = " (no newline)"
PASSED_ON = re.compile(r"(ASAN|UBSAN|TSAN|LSAN)_OPTIONS$")


class CaseError(Exception):
    """The case file itself is wrong."""


class Section:
    def __init__(self, kind, argument, line):
        self.kind, self.argument, self.line, self.lines = kind, argument, line, []
        self.gap = False

    def finish(self):
        self.gap = bool(self.lines) and self.lines[-1] == ""
        if self.gap:
            self.lines.pop()

    @property
    def name(self):
        return self.argument.removesuffix(NO_NEWLINE)

    @property
    def body(self):
        text = "".join(line + "\n" for line in self.lines)
        return text[:-1] if self.argument.endswith(NO_NEWLINE) else text

    def replace_body(self, text):
        if self.kind == "expect" and text and not text.endswith("\n"):
            self.argument = self.name + NO_NEWLINE
        elif self.kind == "expect":
            self.argument = self.name
        self.lines = split_lines(text)
        self.gap = True

    def render(self):
        header = f"=== $ {self.argument}" if self.kind == "$" else f"=== {self.kind} {self.argument}"
        return "\n".join([header.rstrip(), *self.lines])


KINDS = {"file", "$", "exit", "stdout", "stderr", "expect", "like", "json", "files", "absent"}


def parse(text):
    """The free text at the beginning, and the sections."""
    lines = text.removesuffix("\n").split("\n")
    prelude, sections = [], []
    for number, line in enumerate(lines, 1):
        if line.startswith("=== "):
            kind, _, argument = line[4:].strip().partition(" ")
            if kind not in KINDS:
                raise CaseError(f"line {number}: '{kind}' is not a kind of section")
            sections.append(Section(kind, argument.strip(), number))
        elif sections:
            sections[-1].lines.append(line)
        else:
            prelude.append(line)
    for section in sections:
        section.finish()
    check_order(sections)
    return prelude, sections


def check_order(sections):
    has_command = False
    for section in sections:
        has_command |= section.kind == "$"
        if section.kind in ("file", "$", "expect", "like", "json", "absent") and not section.argument:
            raise CaseError(f"line {section.line}: '{section.kind}' needs an argument")
        if section.kind not in ("file", "$") and not has_command:
            raise CaseError(f"line {section.line}: '{section.kind}' before the first command")
    if not has_command:
        raise CaseError("there is no command (a line '=== $ COMMAND')")


def missing_tool(prelude):
    for line in prelude:
        if line.startswith("needs:"):
            for tool in line[len("needs:"):].split():
                if not shutil.which(tool):
                    return tool
    return None


# --- comparing -------------------------------------------------------------------------------

def line_matches(pattern, line):
    if pattern.startswith("re: "):
        return re.fullmatch(pattern[4:], line) is not None
    if "…" in pattern:
        return re.fullmatch(".*".join(re.escape(part) for part in pattern.split("…")), line) is not None
    return pattern == line


def lines_match(patterns, lines):
    """Like a shell wildcard over lines, where the pattern "…" takes any number of them."""
    reachable = {0}
    for pattern in patterns:
        if pattern == "…":
            reachable = set(range(min(reachable), len(lines) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(lines) and line_matches(pattern, lines[at])}
    return len(lines) in reachable


def json_matches(expected, actual):
    if expected == "…":
        return True
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and json_matches(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return (isinstance(actual, list) and len(expected) == len(actual)
                and all(json_matches(e, a) for e, a in zip(expected, actual)))
    if isinstance(expected, float) and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return abs(expected - actual) < 0.00005
    return type(expected) is type(actual) and expected == actual


def json_values(text):
    """One value that is the whole text, or one value per line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line]


def project(expected, actual):
    """`actual` cut down to the keys that `expected` names: this is what --update writes."""
    if expected == "…":
        return expected
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: project(value, actual[key]) for key, value in expected.items() if key in actual}
    return actual


def split_lines(text):
    return text.removesuffix("\n").split("\n") if text else []


def difference(expected, actual, what):
    lines = difflib.unified_diff(split_lines(expected), split_lines(actual), f"{what}, expected",
                                 f"{what}, as it is", lineterm="")
    shown = "\n".join(lines)
    if not shown:
        return f"{what} differs only in its last line break"
    return shown


# --- running ---------------------------------------------------------------------------------

class Sandbox:
    """A fresh folder and a clean environment for one case."""

    def __init__(self, binary, folder):
        self.work = folder / "work"
        home, data, temporary, programs = (folder / n for n in ("home", "data", "tmp", "bin"))
        for path in (self.work, home, data, temporary, programs):
            path.mkdir()
        for name in ("kindred", "kindred-bench"):
            (programs / name).symlink_to(binary.with_name(name))
        (programs / "python3").symlink_to(sys.executable)
        self.environment = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
        self.environment |= {
            "PATH": f"{programs}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "HOME": str(home), "KINDRED_DATA": str(data), "TMPDIR": str(temporary),
            "KINDRED_ROOT": str(ROOT), "LC_ALL": "C.UTF-8", "TERM": "dumb",
        }

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(text))

    def read(self, name):
        path = self.work / name
        return decode(path.read_bytes()) if path.is_file() else None

    def files(self):
        return sorted(str(p.relative_to(self.work)) for p in self.work.rglob("*") if not p.is_dir())

    def run(self, script):
        try:
            done = subprocess.run(["bash", "-c", script], cwd=self.work, env=self.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            return Outcome(None, "", f"still running after {TIMEOUT_SECONDS} s")
        return Outcome(done.returncode, self.printed(done.stdout), self.printed(done.stderr))

    def printed(self, data):
        return decode(data).replace(str(self.work), "$WORK")


class Outcome:
    def __init__(self, code, stdout, stderr):
        self.code, self.stdout, self.stderr = code, stdout, stderr


def decode(data):
    return data.decode("utf-8", "surrogateescape")


def encode(text):
    return text.encode("utf-8", "surrogateescape")


# Each check returns None if the section holds, else the text to show and the body that would hold.

def check_exit(section, outcome, _):
    if section.argument == str(outcome.code):
        return None
    return f"exit code {outcome.code}, expected {section.argument}", None


def check_stream(section, outcome, _):
    return compare_lines(section, getattr(outcome, section.kind), section.kind)


def check_like(section, _, sandbox):
    actual = sandbox.read(section.name)
    return absent_file(section) if actual is None else compare_lines(section, actual, section.name)


def compare_lines(section, actual, what):
    if lines_match(section.lines, split_lines(actual)):
        return None
    return difference(section.body, actual, what), actual


def check_expect(section, _, sandbox):
    actual = sandbox.read(section.name)
    if actual is None:
        return absent_file(section)
    return None if actual == section.body else (difference(section.body, actual, section.name), actual)


def check_json(section, outcome, sandbox):
    streams = {"stdout": outcome.stdout, "stderr": outcome.stderr}
    text = streams[section.name] if section.name in streams else sandbox.read(section.name)
    if text is None:
        return absent_file(section)
    try:
        expected = json_values(section.body)
    except ValueError as error:
        raise CaseError(f"line {section.line}: the expected JSON is malformed: {error}") from error
    try:
        actual = json_values(text)
    except ValueError as error:
        return f"{section.name} is not JSON: {error}\n{text}", None
    if json_matches(expected, actual):
        return None
    cut = [project(e, a) for e, a in zip(expected, actual)] + actual[len(expected):]
    show = ["".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values) for values in (expected, cut)]
    return difference(*show, section.name), show[1]


def check_files(section, _, sandbox):
    actual = "".join(name + "\n" for name in sandbox.files())
    return None if actual == section.body else (difference(section.body, actual, "files"), actual)


def check_absent(section, _, sandbox):
    found = [name for name in sandbox.files()
             if any(fnmatch.fnmatch(name, pattern) for pattern in section.argument.split())]
    return (f"must not exist: {' '.join(found)}", None) if found else None


def absent_file(section):
    return f"{section.name} does not exist", None


CHECKS = {"exit": check_exit, "stdout": check_stream, "stderr": check_stream, "expect": check_expect,
          "like": check_like, "json": check_json, "files": check_files, "absent": check_absent}


def run_sections(sections, sandbox, update):
    """Runs everything in order; returns the failures as (line, text)."""
    failures, command, outcome = [], None, None
    for position, section in enumerate(sections):
        if section.kind == "file":
            sandbox.write(section.name, section.body)
        elif section.kind == "$":
            command, outcome = section, sandbox.run("\n".join([section.argument, *section.lines]))
            if update:
                set_exit_code(sections, position, outcome)
            elif expected_code(sections, position) is None and outcome.code != 0:
                failures.append((section.line, f"exit code {outcome.code}, expected 0", outcome, command))
        else:
            failed = CHECKS[section.kind](section, outcome, sandbox)
            if failed and update and failed[1] is not None:
                section.replace_body(failed[1])
            elif failed:
                failures.append((section.line, failed[0], outcome, command))
    return failures


def expected_code(sections, position):
    for section in sections[position + 1:]:
        if section.kind == "$":
            return None
        if section.kind == "exit":
            return section
    return None


def set_exit_code(sections, position, outcome):
    section = expected_code(sections, position)
    if section:
        section.argument = str(outcome.code)
    elif outcome.code != 0:
        sections.insert(position + 1, Section("exit", str(outcome.code), sections[position].line))


def report(case, failures):
    for line, text, outcome, command in failures:
        print(f"{case}:{line}: {text}\n  after: {command.argument}")
        if outcome.code != 0 and outcome.stderr and "stderr" not in text:
            print("  its stderr:\n" + "".join(f"    {l}\n" for l in split_lines(outcome.stderr)), end="")


def run_case(binary, case, update):
    """True if the case holds, was skipped, or was updated."""
    prelude, sections = parse(decode(case.read_bytes()))
    tool = missing_tool(prelude)
    if tool:
        print(f"{case}: skipped, {tool} is not installed")
        return True
    with tempfile.TemporaryDirectory(prefix="kindred-case-") as folder:
        failures = run_sections(sections, Sandbox(binary, pathlib.Path(folder).resolve()), update)
    if update:
        rewrite(case, prelude, sections)
    report(case, failures)
    commands = sum(section.kind == "$" for section in sections)
    print(f"{case}: {'failed' if failures else 'passed'}, {commands} commands")
    return not failures


def rewrite(case, prelude, sections):
    last = sections[-1]
    last.gap = bool(last.lines) and last.lines[-1] == ""
    text = "".join(line + "\n" for line in prelude)
    text += "".join(section.render() + "\n" * (2 if section.gap else 1) for section in sections)
    case.write_bytes(encode(text))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("cases", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    held = True
    for case in options.cases:
        try:
            held &= run_case(options.binary.resolve(), case, options.update)
        except CaseError as error:
            print(f"{case}: {error}")
            held = False
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
