"""Runs `kindred dedup` on a corpus and collects its outputs."""
import dataclasses
import json
import re
import subprocess

from . import formats


def cut_name(cut):
    unit, length = cut
    return {"words": f"substring:{length}", "bytes": f"substring:{length}b"}.get(unit, unit)


def command(corpus, kindred="kindred"):
    """The command line, to be run in the folder of the corpus."""
    s = corpus.settings
    by = [*s.detectors, *([cut_name(s.cut)] if s.cut else [])]
    names = {"folder": ["in"], "glob": ["in/**/*.*"], "stdin": ["-"]}
    line = [kindred, "dedup", *names.get(corpus.inputs, [file.name for file in corpus.files])]
    line += ["-o", corpus.output] if corpus.output else ["--dry-run"]
    line += ["--by", ",".join(by) or "none", "--threshold", str(s.threshold), "--shingle", "%s:%d" % s.shingle]
    line += ["--hamming", str(s.hamming), "--chunk", "%s:%d" % s.chunk, "--group", s.group]
    line += ["--keep", s.keep[0] + (f":{s.keep[1]}" if s.keep[1] else "")]
    for field in s.fields:
        line += ["--field", field]
    line += ["--id", s.id] if s.id else []
    line += ["--skip-seen", "ids.seen"] if s.seen is not None else []
    line += ["--normalize", s.normalize] if s.normalize else []
    line += ["--verify", s.verify] if s.verify != "exact" else []
    line += ["--bands", corpus.bands] if corpus.bands and "minhash" in s.detectors else []
    line += ["--against", *[file.name for file in corpus.references]] if corpus.references else []
    if s.contains is not None:
        line += ["--contains", str(s.contains), "--contains-words", str(s.contains_words)]
    line += ["--tag", s.tag] if s.tag is not None else []
    if s.cut:
        line += ["--repeats", str(s.repeats), "--repeats-keep", s.repeats_keep]
        line += ["--min-length", s.min_length] if s.cut[0] in ("lines", "paragraphs") else []
    line += ["--on-error", "skip"] if s.skip else []
    line += corpus.options + ["--report", "report.json", "--quiet"]
    return line + (["--groups", "groups.jsonl"] if corpus.output else [])


@dataclasses.dataclass
class Result:
    """The outputs of a run. `error` is its message if it failed."""
    error: str
    folder: object
    stdout: bytes = b""
    report: dict = None
    removed: list = None  # None: no log was wanted
    groups: list = None
    cuts: list = None


def write_inputs(corpus, folder):
    for file in [*(corpus.files if corpus.inputs != "stdin" else []), *corpus.references]:
        file.write(folder)
    (folder / "stdin").write_bytes(corpus.files[0].content() if corpus.inputs == "stdin" else b"")


def run_command(line, folder):
    with open(folder / "stdin", "rb") as stdin:
        return subprocess.run(line, cwd=folder, stdin=stdin, capture_output=True, timeout=600)


def run(corpus, folder, kindred):
    """Writes the corpus and runs the program on it."""
    write_inputs(corpus, folder)
    if corpus.settings.seen is not None:
        (folder / "ids.txt").write_text("".join(f"{each}\n" for each in corpus.settings.seen))
        subprocess.run([kindred, "seen", "add", "ids.seen", "ids.txt", "--quiet"], cwd=folder, check=True)
    line = command(corpus, kindred)
    done = run_command(line, folder)
    enough = re.search(rb"\(use --max-memory (\d+MiB) or more\)", done.stderr)
    if done.returncode != 0 and enough and "--max-memory" in line:  # the budget that the program names must do
        line[line.index("--max-memory") + 1] = enough.group(1).decode()
        done = run_command(line, folder)
    if done.returncode != 0:
        return Result(f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}", folder)
    result = Result(None, folder, done.stdout, json.loads((folder / "report.json").read_text()))
    if not corpus.output:
        return result
    name = result.report["removed_output"]
    if name not in ("", "-", "none"):
        result.removed = formats.read_records(folder / name)
    result.groups = formats.read_records(folder / "groups.jsonl")
    if corpus.settings.cut and corpus.output != "-":
        result.cuts = formats.read_records(folder / "clean.cut.jsonl")
    return result
