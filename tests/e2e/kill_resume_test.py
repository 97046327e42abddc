#!/usr/bin/env python3
"""A killed `kindred dedup` leaves no output, and `--resume` gives the bytes of a run that was not.

usage: kill_resume_test.py KINDRED [ROUNDS]
"""
import os
import pathlib
import random
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


def command(kindred, folder, name, *more):
    return [kindred, "dedup", str(folder / "in.jsonl"), "-o", str(folder / name), "--quiet", "--threads", "2",
            "--groups", str(folder / f"{name}.groups"), *more]


def main():
    kindred = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    rng = random.Random(int(os.environ.get("KILL_SEED", "1")))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_corpus(folder / "in.jsonl")
        begun = time.monotonic()
        subprocess.run(command(kindred, folder, "whole.jsonl"), check=True)
        took = time.monotonic() - begun
        outputs = ["{}", "{}.groups"]
        expected = [(folder / name.format("whole.jsonl")).read_bytes() for name in outputs]
        expected.append((folder / "whole.removed.jsonl").read_bytes())
        assert len(expected[0]) > 1_000_000 and len(expected[2]) > 1_000_000, "the corpus is too small to tell"

        kills = resumed = 0
        for number in range(rounds):
            output = folder / "out.jsonl"
            for leftover in folder.glob("out.*"):
                leftover.unlink()
            finished = False
            while not finished:
                # Checkpoints at every block, so that every stage is met with one on disk.
                process = subprocess.Popen(command(kindred, folder, "out.jsonl", "--resume", "--checkpoint-every", "0",
                                                   "--max-hot-signatures", "2000"))
                try:
                    process.wait(timeout=rng.uniform(0.02, 2.5 * took))
                    assert process.returncode == 0, f"round {number}: exit code {process.returncode}"
                    finished = True
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    kills += 1
                    if (folder / ".out.jsonl.kindred" / "checkpoint").exists():
                        resumed += 1
                    if output.exists():
                        assert output.read_bytes() == expected[0], f"round {number}: half an output"
            got = [(folder / name.format("out.jsonl")).read_bytes() for name in outputs]
            got.append((folder / "out.removed.jsonl").read_bytes())
            for one, other, what in zip(got, expected, ["output", "groups", "audit log"]):
                assert one == other, f"round {number}: the {what} differs after {kills} kills"
            assert not (folder / ".out.jsonl.kindred").exists(), "the work folder was left behind"
        assert kills >= rounds / 2 and resumed > 0, f"only {kills} kills, {resumed} with a checkpoint: nothing was tested"
        print(f"{rounds} rounds, {kills} kills, {resumed} of them with a checkpoint to resume: same bytes every time")


if __name__ == "__main__":
    main()
