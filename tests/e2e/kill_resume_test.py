#!/usr/bin/env python3
"""A killed `kindred dedup` leaves no output, and `--resume` gives the same bytes as a run without a kill.

usage: kill_resume_test.py KINDRED [ROUNDS]
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RECORDS = 60_000


def make_corpus(path):
    words = [f"w{i}" for i in range(4_000)]
    rng = random.Random(5)
    texts = []
    with open(path, "w") as file:
        for row in range(RECORDS):
            if texts and rng.random() < 0.3:
                text = list(rng.choice(texts))
                for _ in range(rng.randrange(3)):
                    text[rng.randrange(len(text))] = rng.choice(words)
            else:
                text = [rng.choice(words) for _ in range(rng.randrange(20, 90))]
                texts.append(text)
            file.write('{"id": %d, "text": "%s"}\n' % (row, " ".join(text)))


class Corpus:
    """One input, the outputs of a complete run over it, and its duration."""

    def __init__(self, kindred, folder, extension):
        self.kindred, self.folder, self.extension = kindred, folder, extension
        begun = time.monotonic()
        subprocess.run(self.command("whole"), check=True)
        self.took = time.monotonic() - begun
        self.expected = self.outputs("whole")
        assert all(len(output) > 1_000_000 for output in self.expected[::2]), "the corpus is too small to tell"

    def command(self, stem, *more):
        return [self.kindred, "dedup", str(self.folder / f"in.{self.extension}"), "-o",
                str(self.path(stem)), "--quiet", "--threads", "2", "--groups", str(self.folder / f"{stem}.groups"), *more]

    def path(self, stem):
        return self.folder / f"{stem}.{self.extension}"

    def work_folder(self):
        return self.folder / f".out.{self.extension}.kindred"

    def outputs(self, stem):
        paths = [self.path(stem), self.folder / f"{stem}.groups", self.folder / f"{stem}.removed.jsonl"]
        return [path.read_bytes() for path in paths]

    def await_checkpoints(self, process, count):
        """Returns when that many checkpoints were seen, or the process has ended."""
        seen = set()
        while len(seen) < count and process.poll() is None:
            try:
                seen.add((self.work_folder() / "checkpoint").stat().st_mtime_ns)
            except FileNotFoundError:
                pass
            time.sleep(0.0005)

    def remove_leftovers(self):
        for leftover in self.folder.glob("out.*"):
            if leftover.is_file():
                leftover.unlink()

    def check_half(self):
        if self.path("out").exists():
            assert self.path("out").read_bytes() == self.expected[0], "half an output"

    def run_until_done(self, rng):
        """Kills at random moments and resumes until a run is left alone. (kills, kills with a checkpoint)"""
        self.remove_leftovers()
        kills = resumable = 0
        while True:
            # With a checkpoint at every block, kills meet one in every stage.
            process = subprocess.Popen(self.command("out", "--resume", "--checkpoint-every", "0",
                                                    "--max-hot-signatures", "2000"))
            # The first try is killed at one of its first checkpoints, later ones at any time.
            if kills == 0:
                self.await_checkpoints(process, rng.randrange(1, 6))
            # The limit grows, so that a run ends even if the machine became slower since `took` was measured.
            try:
                process.wait(timeout=rng.uniform(0.02, 2.5 * self.took) * 1.1 ** kills if kills else 0)
                assert process.returncode == 0, f"exit code {process.returncode}"
                return kills, resumable
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            kills += 1
            resumable += (self.work_folder() / "checkpoint").exists()
            self.check_half()


class Shards(Corpus):
    """Several inputs in folders; the outputs have the same paths below another folder."""

    def __init__(self, kindred, folder, source):
        self.inputs = folder / "shards"
        lines = source.read_bytes().splitlines(keepends=True)
        for number in range(5):
            place = self.inputs / ("deep" if number % 2 else ".") / f"{number}.jsonl"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(b"".join(lines[number::5]))
        super().__init__(kindred, folder, "shards")

    def command(self, stem, *more):
        return [self.kindred, "dedup", str(self.inputs), "-o", f"{self.path(stem)}/", "--quiet", "--threads", "2",
                "--groups", str(self.folder / f"{stem}.groups"), *more]

    def outputs(self, stem):
        files = sorted(path for path in self.path(stem).rglob("*") if path.is_file())
        names = [str(path.relative_to(self.path(stem))).encode() for path in files]
        assert len(names) == 5, f"the output folder has {names}"
        records = b"".join(name + b":" + path.read_bytes() for name, path in zip(names, files))
        return [records, (self.folder / f"{stem}.groups").read_bytes(),
                (self.folder / f"{stem}.shards.removed.jsonl").read_bytes()]

    def remove_leftovers(self):
        super().remove_leftovers()
        shutil.rmtree(self.path("out"), ignore_errors=True)

    def check_half(self):
        """Every output file that exists is complete."""
        for path in self.path("whole").rglob("*.jsonl"):
            got = self.path("out") / path.relative_to(self.path("whole"))
            assert not got.exists() or got.read_bytes() == path.read_bytes(), f"half an output: {got}"


def main():
    kindred = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    rng = random.Random(int(os.environ.get("KILL_SEED", "1")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_corpus(folder / "in.jsonl")
        subprocess.run([kindred, "dedup", str(folder / "in.jsonl"), "-o", str(folder / "in.parquet"), "--by", "exact",
                        "--quiet"], check=True)
        corpora = [Corpus(kindred, folder, extension) for extension in ("jsonl", "parquet")]
        corpora.append(Shards(kindred, folder, folder / "in.jsonl"))
        kills = resumable = number = 0
        # A run may end before it is killed. More rounds follow until enough runs were killed.
        while number < rounds or (number < 20 * rounds and (kills < rounds / 2 or resumable == 0)):
            corpus = corpora[number % len(corpora)]
            number += 1
            killed, with_checkpoint = corpus.run_until_done(rng)
            kills += killed
            resumable += with_checkpoint
            for got, expected, what in zip(corpus.outputs("out"), corpus.expected, ["output", "groups", "audit log"]):
                assert got == expected, f"round {number}, {corpus.extension}: the {what} differs after {killed} kills"
            assert not corpus.work_folder().exists(), "the work folder was left behind"
        assert kills >= rounds / 2 and resumable > 0, f"{kills} kills, {resumable} with a checkpoint: nothing was tested"
        print(f"{number} rounds, {kills} kills, {resumable} of them with a checkpoint to resume: same bytes every time")


if __name__ == "__main__":
    main()
