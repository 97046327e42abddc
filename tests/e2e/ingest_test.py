#!/usr/bin/env python3
"""Runs with `--config` keep the same records as `--group stream`. A run that is killed with SIGKILL and repeated gives the
same output, with every document once in the store and the ledger.

usage: ingest_test.py KINDRED [ROUNDS]
"""
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RECORDS = 9_000  # more than two batches
WORDS = [f"w{i}" for i in range(3_000)]


def make_input(path, seed):
    """Records that repeat earlier ones, exactly and nearly; some ids come twice, some records lack a text."""
    rng = random.Random(seed)
    texts = []
    with open(path, "w") as file:
        for row in range(RECORDS):
            if texts and rng.random() < 0.3:
                text = list(rng.choice(texts))
                for _ in range(rng.randrange(4)):
                    text[rng.randrange(len(text))] = rng.choice(WORDS)
            else:
                text = [rng.choice(WORDS) for _ in range(rng.randrange(8, 60))]
            texts.append(text)
            record = {"id": f"{seed}-{row}", "source": rng.choice("ab"), "text": " ".join(text)}
            if rng.random() < 0.02:
                record["text"] = rng.choice(["", None])
            file.write(json.dumps(record) + "\n")


def command(kindred, folder, run):
    return [kindred, "dedup", folder / "in.jsonl", "-o", folder / "out.jsonl", "--config", folder / "kindred.yaml",
            "--run", run, "--quiet"]


def decisions(folder):
    lines = [json.loads(line) for line in (folder / "out.removed.jsonl").read_text().splitlines()]
    return [(line["row_id"], line["action"], line["reason"]) for line in lines]


def ask(kindred, *arguments):
    done = subprocess.run([kindred, *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout


def check_stores(kindred, folder, kept):
    config = folder / "kindred.yaml"
    ask(kindred, "store", "check", "--config", config)
    stats = json.loads(ask(kindred, "store", "stats", "--json", "--config", config))
    with_text = sum(1 for line in kept.splitlines() if json.loads(line)["text"])
    assert stats["documents"] == with_text, f"{stats['documents']} documents in the store, {with_text} kept"
    listed = [json.loads(line) for line in ask(kindred, "ledger", "list", "--run", "one", "--json", "--config",
                                               config).splitlines()]
    assert len(listed) == RECORDS, f"{len(listed)} entries for {RECORDS} documents"
    assert len({entry["doc"] for entry in listed}) == RECORDS, "a document is in the ledger twice"


def kill_and_repeat(kindred, folder, expected, seconds, rng):
    """Runs until a run ends by itself. Returns how many were killed."""
    shutil.rmtree(folder / "shared", ignore_errors=True)
    kills = 0
    while True:
        process = subprocess.Popen(command(kindred, folder, "one"))
        try:
            # The time before the kill grows with the kills, so that it ends on any machine.
            code = process.wait(timeout=rng.random() * seconds * (1 + kills / 3))
            assert code == 0, f"exit code {code}"
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert (folder / "out.jsonl").read_bytes() == expected[0], f"other records after {kills} kills"
    assert decisions(folder) == expected[1], f"other decisions after {kills} kills"
    check_stores(kindred, folder, (folder / "out.jsonl").read_text())
    return kills


def main():
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    rng = random.Random(15)
    kills = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "kindred.yaml").write_text("global_fingerprints: {backend: local, root_path: shared}\n")
        for number in range(rounds):
            make_input(folder / "in.jsonl", number)
            shutil.rmtree(folder / "shared", ignore_errors=True)
            begun = time.monotonic()
            subprocess.run(command(kindred, folder, "one"), check=True)
            seconds = time.monotonic() - begun
            expected = (folder / "out.jsonl").read_bytes(), decisions(folder)
            ask(kindred, "dedup", folder / "in.jsonl", "-o", folder / "stream.jsonl", "--group", "stream", "--quiet")
            assert expected[0] == (folder / "stream.jsonl").read_bytes(), "not what --group stream keeps"
            check_stores(kindred, folder, expected[0].decode())
            kills += kill_and_repeat(kindred, folder, expected, seconds, rng)
    print(f"{rounds} rounds, {kills} kills: the same records, decisions, store and ledger")


if __name__ == "__main__":
    main()
