#!/usr/bin/env python3
"""Runs over one huge group keep to --max-memory.

usage: budget_test.py KINDRED
"""
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import typing

from memory_mix.runs import digest, is_sanitized

SMALL = 128


def make_templates(path):
    """Copies of one text, most of them changed a little: millions of pairs have near SimHashes."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(5_000)]
    template = [rng.choice(words) for _ in range(120)]
    with open(path, "w") as file:
        for row in range(12_000):
            text = list(template)
            for _ in range(rng.randrange(4)):
                text[rng.randrange(len(text))] = rng.choice(words)
            file.write('{"id": %d, "text": "%s u%d"}\n' % (row, " ".join(text), row))


def make_pieces(path):
    """Pieces of one text: every record but a few goes, with hundreds of chunks each."""
    rng = random.Random(2)
    text = " ".join(f"w{rng.randrange(5_000)}" for _ in range(3_000))
    with open(path, "w") as file:
        for row in range(8_000):
            begin, length = rng.randrange(60) * 64, rng.randrange(40, 120) * 64
            file.write('{"id": %d, "text": "%s"}\n' % (row, text[begin:begin + length]))


class Made(typing.NamedTuple):
    """A file that a run made."""
    bytes: int
    digest: str


class Runs:
    def __init__(self, kindred, folder):
        self.kindred, self.folder = kindred, folder
        self.sanitized = is_sanitized(kindred)

    def dedup(self, source, mebibytes, *options):
        """The run's messages, its peak memory in MiB, and its files, which are None if it failed."""
        output = self.folder / "out.jsonl"
        done = subprocess.Popen([self.kindred, "dedup", str(source), "-o", str(output), "--quiet", "--max-memory",
                                 f"{mebibytes}MiB", *options], stderr=subprocess.PIPE, text=True)
        said = done.stderr.read()
        _, status, usage = os.wait4(done.pid, 0)
        if status != 0:
            assert not output.exists(), "a run that failed left an output"
            return said, None, None
        # The peak memory of a child begins with that of its parent, so nothing large is held here.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        assert own < SMALL / 2, f"this test took {own} MiB, which its children are charged with"
        peak = 0 if self.sanitized else usage.ru_maxrss / 1024
        files = []
        for file in [output, self.folder / "out.removed.jsonl"]:
            files.append(Made(file.stat().st_size, digest(file)))
            file.unlink()
        return said, peak, files


def check_pairs(runs, source):
    """Nearly every SimHash is near very many others: the pairs of a record are bounded, and fit."""
    options = ("--by", "exact,simhash")
    _, peak, files = runs.dedup(source, SMALL, *options)
    assert files is not None and peak <= SMALL, f"{peak} MiB held of {SMALL}"
    _, _, plenty = runs.dedup(source, 2_000, *options)
    assert files == plenty, "other bytes with other memory"
    print(f"pairs: {peak:.0f} MiB held of {SMALL}")


def check_chunks(runs, source):
    options = ("--by", "exact,chunk", "--chunk", "fixed:16")
    _, peak, files = runs.dedup(source, SMALL, *options)
    assert files is not None and peak <= SMALL, f"{peak} MiB held of {SMALL}"
    _, _, plenty = runs.dedup(source, 2_000, *options)
    assert files == plenty, "other bytes with other memory"
    assert files[0].bytes < files[1].bytes / 100, "almost all records should go"
    print(f"chunks: {peak:.0f} MiB held of {SMALL}")


def main():
    kindred = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = Runs(kindred, folder)
        make_templates(folder / "templates.jsonl")
        check_pairs(runs, folder / "templates.jsonl")
        make_pieces(folder / "pieces.jsonl")
        check_chunks(runs, folder / "pieces.jsonl")


if __name__ == "__main__":
    main()
