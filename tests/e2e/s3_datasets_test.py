#!/usr/bin/env python3
"""Datasets in a bucket: the outputs are those of a run on local files, byte for byte, also through a proxy that makes
a third of all requests fail; a run that is killed leaves nothing under the names of its outputs; an input that changed
is noticed; memory stays within its limit.

usage: s3_datasets_test.py KINDRED [KILLS]
"""
import gzip
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import buckets

FAULTS = "throttle=0.05,error=0.04,error_after=0.04,reset=0.04,reset_after=0.04,truncated=0.04,slow=0.02,duplicate=0.05"
WORDS = [f"w{i}" for i in range(5_000)]


def lines(count, seed, words=40):
    rng = random.Random(seed)
    texts, out = [], []
    for row in range(count):
        text = list(rng.choice(texts)) if texts and rng.random() < 0.3 else [rng.choice(WORDS) for _ in range(words)]
        if rng.random() < 0.5:
            text[rng.randrange(len(text))] = rng.choice(WORDS)
        texts.append(text)
        out.append(json.dumps({"id": f"{seed}-{row}", "text": " ".join(text), "tags": ["a", str(row % 3)]}) + "\n")
    return "".join(out)


class Machine:
    def __init__(self, kindred, folder, server):
        self.kindred, self.folder, self.server = kindred, folder, server

    def run(self, *words, check=True):
        done = subprocess.run([self.kindred, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              env=self.server.environment())
        assert not check or done.returncode == 0, f"{words}: {done.stderr}"
        return done

    def start(self, *words):
        return subprocess.Popen([self.kindred, *map(str, words)], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=self.server.environment())

    def send(self, name):
        self.server.put(name, (self.folder / name).read_bytes())


def make_corpus(machine):
    """The same records as JSONL, packed JSONL, CSV, TSV and Parquet, here and in the bucket."""
    corpus = machine.folder / "corpus"
    (corpus / "deep/er").mkdir(parents=True)
    for number in range(3):
        (corpus / f"{number}.jsonl").write_text(lines(2_000, number))
    (corpus / "deep/er/3.jsonl").write_text(lines(2_000, 3))
    (corpus / "deep/4.jsonl.gz").write_bytes(gzip.compress(lines(1_000, 4).encode()))
    (corpus / "notes.txt").write_text("no dataset\n")
    (corpus / ".hidden.jsonl").write_text(lines(10, 5))  # part of a glob, and not of a folder
    for extension in ("jsonl.zst", "parquet", "csv", "tsv"):
        machine.run("dedup", "corpus/0.jsonl", "corpus/1.jsonl", "-o", f"corpus/all.{extension}", "--by", "exact", "--removed", "none")
    for path in corpus.rglob("*"):
        if path.is_file():
            machine.send(path.relative_to(machine.folder).as_posix())


def plain(content):
    """The text without the bucket in the names of files."""
    return content.replace(f"s3://{buckets.BUCKET}/".encode(), b"")


def same_results(machine, inputs, output, *options):
    """Runs the command here and in the bucket, and compares every output."""
    logs = ["--removed", "{}logs/removed.jsonl", "--groups", "{}logs/groups.jsonl", "--report", "{}logs/report.json"]
    (machine.folder / "logs").mkdir(exist_ok=True)
    for place in ("", f"s3://{buckets.BUCKET}/"):
        for name in machine.server.list("logs/"):
            machine.server.remove(name)
        machine.run("dedup", *[place + name for name in inputs], "-o", place + output,
                    *[word.format(place) for word in logs], *options, "--quiet")
    names = [output] if not output.endswith("/") else [
        path.relative_to(machine.folder).as_posix() for path in (machine.folder / output).rglob("*") if path.is_file()]
    assert names, "no outputs"
    for name in [*names, "logs/removed.jsonl", "logs/groups.jsonl"]:
        here, there = (machine.folder / name).read_bytes(), machine.server.get(name)
        assert there is not None, f"{inputs}: {name} is not in the bucket"
        assert plain(here) == plain(there), f"{inputs}: {name} differs"
    if output.endswith("/"):
        assert sorted(machine.server.list(output)) == sorted(names), "other files in the folder"
    report = json.loads(machine.server.get("logs/report.json"))
    assert report["output"] == f"s3://{buckets.BUCKET}/{output}", report["output"]


def compare_formats(machine):
    for extension in ("jsonl.zst", "parquet", "csv", "tsv"):
        same_results(machine, [f"corpus/all.{extension}"], f"out.{extension}")
    same_results(machine, ["corpus/all.parquet"], "converted.jsonl")  # by DuckDB
    same_results(machine, ["corpus/all.parquet"], "nested.jsonl.gz", "--field", "tags")
    same_results(machine, ["corpus/[01].jsonl", "corpus/2.jsonl"], "globs.jsonl")
    same_results(machine, ["corpus/**/*.jsonl"], "clean/")
    same_results(machine, ["corpus/"], "folder/")
    same_results(machine, ["corpus/1.jsonl"], "left.jsonl", "--against", f"s3://{buckets.BUCKET}/corpus/0.jsonl")


def refuse(machine):
    bucket = f"s3://{buckets.BUCKET}"
    for words, expected in (
            ([f"{bucket}/none/*.jsonl", "-o", "x.jsonl"], "no file matches"),
            ([f"{bucket}/none.jsonl", "-o", "x.jsonl"], "there is no object"),
            (["s3://missing-bucket/a.jsonl", "-o", "x.jsonl"], "missing-bucket"),
            ([f"{bucket}/corpus/0.jsonl", "-o", f"{bucket}/corpus/0.jsonl"], "an input and an output"),
            ([f"{bucket}/corpus/", "-o", f"{bucket}/corpus/clean/"], "which is an input"),
            ([f"{bucket}/corpus/*.jsonl", "-o", f"{bucket}/corpus/"], "an input and an output"),
            (["corpus/0.jsonl", "-o", "s3://missing-bucket/x.jsonl"], "missing-bucket"),
            (["corpus/0.jsonl", "-o", f"{bucket}/../x.jsonl"], "is not an address of an output")):
        done = machine.run("dedup", *words, check=False)
        assert done.returncode == 1 and expected in done.stderr, f"{words}: {done.returncode} {done.stderr}"
        assert "S3RVER" not in done.stderr, "a key is in a message"


def look_at(machine):
    """Other verbs that read datasets."""
    name = f"s3://{buckets.BUCKET}/corpus/0.jsonl"
    assert "similarity" in machine.run("explain", name, "3", "4", "--json").stdout
    assert json.loads(machine.run("plan", name, "-o", f"s3://{buckets.BUCKET}/x.jsonl", "--json").stdout)
    machine.run("dedup", name, "--sample", "500", "--json")


def kill(machine, kills):
    """Outputs of more than one part, and of one."""
    machine.folder.joinpath("big.jsonl").write_text(lines(60_000, 9))
    machine.send("big.jsonl")
    machine.run("dedup", "big.jsonl", "-o", "small/out.jsonl", "--removed", "small/gone.jsonl", "--quiet")
    expected = {name: (machine.folder / "small" / name).read_bytes() for name in ("out.jsonl", "gone.jsonl")}
    assert len(expected["out.jsonl"]) > 8 << 20, "the output has one part"
    bucket = f"s3://{buckets.BUCKET}"
    command = ["dedup", f"{bucket}/big.jsonl", "-o", f"{bucket}/killed/out.jsonl", "--removed",
               f"{bucket}/killed/gone.jsonl", "--temp", machine.folder / "work", "--checkpoint-every", "0", "--quiet"]
    begun = time.monotonic()
    machine.run(*command)
    seconds = time.monotonic() - begun
    rng = random.Random(5)

    def is_whole(name, complete):
        there = machine.server.get(f"killed/{name}")
        return not complete if there is None else plain(there) == expected[name]

    def check(complete):
        for name in expected:
            # s3rver shows an object while it writes it, which S3 does not; it soon has all of it.
            limit = time.monotonic() + 600
            while not is_whole(name, complete):
                assert time.monotonic() < limit, f"{name} is not whole"
                time.sleep(0.05)

    check(True)
    killed = 0
    for number in range(kills):
        for name in expected:
            machine.server.remove(f"killed/{name}")
        process = machine.start(*command)
        try:
            process.wait(timeout=seconds * (0.3 + rng.random()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            check(False)
            machine.run(*command, *(["--resume"] if number % 2 else []))
        check(True)
        left = [path for path in (machine.folder / "work").rglob("*") if path.is_file()]
        assert not left, f"left behind: {left}"
    return killed


def notice_changes(machine):
    """A run that is resumed with another object under the same name is refused."""
    bucket = f"s3://{buckets.BUCKET}"
    command = ["dedup", f"{bucket}/big.jsonl", "-o", f"{bucket}/changed.jsonl", "--temp", machine.folder / "work",
               "--checkpoint-every", "0", "--quiet"]
    process = machine.start(*command)
    limit = time.monotonic() + 600
    while not list((machine.folder / "work").rglob("checkpoint")):
        assert process.poll() is None and time.monotonic() < limit, "no checkpoint"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    machine.server.put("big.jsonl", lines(60_000, 10).encode())
    done = machine.run(*command, "--resume", check=False)
    assert done.returncode == 1 and "changed" in done.stderr, done.stderr
    machine.run(*command)


def keep_to_memory(machine):
    name = f"s3://{buckets.BUCKET}/big.jsonl"
    done = machine.run("dedup", name, "-o", f"s3://{buckets.BUCKET}/bounded.jsonl", "--max-memory", "160MiB", "--json")
    peak = json.loads(done.stdout)["peak_memory_bytes"]
    assert peak <= 160 << 20, f"{peak} bytes of memory"


def main():
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as name, buckets.Server() as server, buckets.Server(FAULTS) as faulty:
        for place, at in (("plain", server), ("faulty", faulty)):
            folder = pathlib.Path(name) / place
            folder.mkdir()
            machine = Machine(kindred, folder, at)
            make_corpus(machine)
            compare_formats(machine)
            (folder / "small").mkdir()
            if at is server:
                refuse(machine)
                look_at(machine)
                killed = kill(machine, kills)
                notice_changes(machine)
                keep_to_memory(machine)
    print(f"the same outputs as on disk, with and without faults; {killed} kills")


if __name__ == "__main__":
    main()
