#!/usr/bin/env python3
"""A series of runs with `--signature-store DIR --append` gives the same as `--against`, a killed run does not change the
store, and the folder is the same local store that `--config` uses.

usage: append_test.py KINDRED [ROUNDS]
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

WORDS = [f"w{i}" for i in range(3_000)]


def make_days(folder, days, records, seed):
    """Records that repeat others of the same day and of earlier ones, exactly and nearly."""
    rng = random.Random(seed)
    texts = []
    for day in range(days):
        with open(folder / f"day{day}.jsonl", "w") as file:
            for row in range(records):
                if texts and rng.random() < 0.5:
                    text = list(rng.choice(texts))
                    for _ in range(rng.randrange(4)):
                        text[rng.randrange(len(text))] = rng.choice(WORDS)
                else:
                    text = [rng.choice(WORDS) for _ in range(rng.randrange(3, 60))]
                texts.append(text)
                record = {"id": f"{day}-{row}", "text": " ".join(text)}
                if rng.random() < 0.02:
                    record["text"] = rng.choice(["", "  ", None, "!?"])
                file.write(json.dumps(record) + "\n")


def run(kindred, *arguments):
    subprocess.run([kindred, "dedup", *map(str, arguments), "--quiet"], check=True)


def audit(path):
    """The log without the reference's file, which is the input with a store and the output with --against."""
    lines = []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        entry.pop("duplicate_of_file", None)
        entry.pop("duplicate_of_reference", None)
        lines.append(entry)
    return lines


def compare_with_against(kindred, folder, options, extension):
    """Runs each day with the store, and with --against the outputs of the days before."""
    store = folder / "store"
    shutil.rmtree(store, ignore_errors=True)
    before = []
    removed = 0
    for day in range(3):
        source = folder / f"day{day}.{extension}"
        stored, plain = folder / f"stored{day}.{extension}", folder / f"plain{day}.{extension}"
        run(kindred, source, "-o", stored, "--signature-store", store, "--append", *options)
        against = [part for path in before for part in ("--against", path)]
        run(kindred, source, "-o", plain, *against, *options)
        what = f"day {day}, {extension}, {' '.join(options)}"
        assert stored.read_bytes() == plain.read_bytes(), f"{what}: the outputs differ"
        logs = [audit(folder / f"{stem}{day}.removed.jsonl") for stem in ("stored", "plain")]
        assert logs[0] == logs[1], f"{what}: the audit logs differ"
        removed += sum(1 for line in (folder / f"stored{day}.removed.jsonl").read_text().splitlines()
                       if json.loads(line).get("duplicate_of_reference"))
        before.append(plain)
    assert removed > 20, f"{options}: {removed} duplicates of earlier days, which tells nothing"


def store_settings(folder, store):
    """A settings file for `--config` that names the folder of `--signature-store`."""
    path = folder / f"{store.name}.yaml"
    path.write_text(f"global_fingerprints:\n  backend: local\n  root_path: {store}\n")
    return path


def documents(kindred, folder, store):
    """The number of documents, by opening the folder as a local store."""
    told = subprocess.run([kindred, "store", "stats", "--json", "--config", store_settings(folder, store)], check=True,
                          capture_output=True, text=True)
    return json.loads(told.stdout)["documents"]


def check(kindred, folder, store):
    subprocess.run([kindred, "store", "check", "--config", store_settings(folder, store)], check=True,
                   stdout=subprocess.DEVNULL)


def reasons(path):
    """The log of a run with --config, without the document's id in the store, which says how it was added."""
    lines = []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        for existing in entry["existing"]:
            del existing["doc"]
        entry["existing"].sort(key=json.dumps)
        lines.append(entry)
    return lines


def numberless(path):
    """The log of a run with --append, without the number of the reference: records without a text have none when they
    come with --config."""
    entries = audit(path)
    for entry in entries:
        entry.pop("duplicate_of_row_id", None)
    return entries


def compare_ways(kindred, folder):
    """Fills one folder with --append and one with --config, and continues each of them both ways."""
    appended, ingested, begin = folder / "appended", folder / "ingested", folder / "begin.jsonl"

    def ingest(store, source, output):
        run(kindred, source, "-o", output, "--config", store_settings(folder, store), "--run", source.stem)

    def append(store, source, output):
        run(kindred, source, "-o", output, "--signature-store", store, "--append")

    # The records that a run with --config keeps: no other way to add them removes one.
    ingest(folder / "scratch", folder / "day0.jsonl", begin)
    append(appended, begin, folder / "a.jsonl")
    ingest(ingested, begin, folder / "b.jsonl")
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes() == begin.read_bytes()
    dropped = 0
    for day, way, log in ((1, ingest, reasons), (2, append, numberless)):
        # Each way over the folders of both, the second one over what the first added to the other's.
        for store, stem in ((appended, "a"), (ingested, "b")):
            way(store, folder / f"day{day}.jsonl", folder / f"{stem}.jsonl")
            check(kindred, folder, store)
        assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes(), f"day {day}: the outputs differ"
        logs = [log(folder / f"{stem}.removed.jsonl") for stem in "ab"]
        assert logs[0] == logs[1], f"day {day}: the logs differ"
        dropped += len(logs[0])
        counts = [documents(kindred, folder, store) for store in (appended, ingested)]
        assert counts[0] == counts[1], f"day {day}: {counts} documents"
    assert dropped > 100, f"{dropped} duplicates, which tells nothing"
    print(f"one store, both ways: {counts[0]} documents, {dropped} duplicates")


def outputs(folder):
    return [(folder / name).read_bytes() for name in ("out.jsonl", "out.removed.jsonl")]


def kill_rounds(kindred, folder, rounds):
    """Kills the second day at random moments. The repeated run and the third day give the same as without kills."""
    rng = random.Random(int(os.environ.get("KILL_SEED", "1")))
    first, store = folder / "first", folder / "store"
    shutil.rmtree(first, ignore_errors=True)
    run(kindred, folder / "day0.jsonl", "-o", folder / "out.jsonl", "--signature-store", first, "--append")

    def command(day):
        return [kindred, "dedup", str(folder / f"day{day}.jsonl"), "-o", str(folder / "out.jsonl"), "--quiet",
                "--signature-store", str(store), "--append", "--threads", "2"]

    def begin_again():
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(first, store)
        for leftover in folder.glob("out.*"):
            leftover.unlink()

    begin_again()
    begun = time.monotonic()
    subprocess.run(command(1), check=True)
    took = time.monotonic() - begun
    expected, known = outputs(folder), documents(kindred, folder, store)
    subprocess.run(command(2), check=True)
    third = outputs(folder)
    old = documents(kindred, folder, first)
    assert old < known, "the second day adds nothing"

    kills = number = 0
    # A run may end before it is killed. More rounds follow until enough runs were killed.
    while number < rounds or (number < 20 * rounds and kills < rounds / 2):
        number += 1
        begin_again()
        for attempt in range(20):
            process = subprocess.Popen(command(1))
            try:
                process.wait(timeout=rng.uniform(0, 1.1 * took) if attempt < 3 else 600)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
            # Every other time the next run is the first to open what was left.
            seen = store if rng.random() < 0.5 else folder / "copy"
            if seen != store:
                shutil.rmtree(seen, ignore_errors=True)
                shutil.copytree(store, seen)
            now = documents(kindred, folder, seen)
            assert now in (old, known), "the store is neither the old one nor the new one"
            if now == known:
                break
            assert process.returncode != 0, "a finished run added nothing"
        assert outputs(folder) == expected, f"round {number}: the outputs differ"
        if number % 4 == 0:
            check(kindred, folder, store)
        subprocess.run(command(2), check=True)
        assert outputs(folder) == third, f"round {number}: the next day differs"
        left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
        assert not left, f"left behind: {left}"
    assert kills >= rounds / 2, f"{kills} kills: nothing was tested"
    print(f"{number} rounds, {kills} kills: the old store or the new one every time")


def main():
    kindred = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_days(folder, 3, 1_500, 7)
        for day in range(3):
            run(kindred, folder / f"day{day}.jsonl", "-o", folder / f"day{day}.parquet", "--by", "exact",
                "--normalize", "none")
        for extension in ("jsonl", "parquet"):
            for options in ([], ["--by", "exact"], ["--by", "minhash", "--threads", "1"],
                            ["--by", "exact,simhash", "--hamming", "6"], ["--verify", "estimate"],
                            ["--group", "components", "--keep", "longest"],
                            ["--normalize", "aggressive", "--threshold", "0.6"], ["--verify", "none"]):
                compare_with_against(kindred, folder, options, extension)
        print("the same as --against every time")
        compare_ways(kindred, folder)
        make_days(folder, 3, 20_000, 8)
        kill_rounds(kindred, folder, rounds)


if __name__ == "__main__":
    main()
