#!/usr/bin/env python3
"""What `kindred plan` expects is what the run then takes, by a factor of 1.5.

The ratio of the times is printed but not checked: a machine may be busy during the one and idle during the other.

usage: plan_test.py KINDRED [RECORDS]
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FACTOR = 1.5
# Input, and options of plan and dedup.
RUNS = [
    ("jsonl", []),
    ("csv", []),
    ("parquet", []),
    ("jsonl", ["--by", "exact"]),
    ("jsonl", ["--by", "exact,simhash", "--hamming", "1"]),
    ("jsonl", ["--by", "exact,simhash", "--hamming", "3"]),
    ("jsonl", ["--by", "exact,chunk"]),
    ("jsonl", ["--max-memory", "128MiB"]),
    ("parquet", ["--max-memory", "512MiB"]),
]


def make_inputs(bench, folder, records):
    lines = folder / "in.jsonl"
    subprocess.run([bench, "corpus", str(lines), "--records", str(records), "--bytes", "800"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run([bench, "copy", str(lines), str(folder / "in.parquet")], check=True,
                   stdout=subprocess.DEVNULL)
    with open(lines) as source, open(folder / "in.csv", "w", newline="") as target:
        writer = None
        for line in source:
            record = json.loads(line)
            if writer is None:
                writer = csv.DictWriter(target, record.keys())
                writer.writeheader()
            writer.writerow(record)


def nameless_bytes(process):
    """Of files that a process has open and that have no name any more."""
    total = 0
    try:
        for number in os.listdir(f"/proc/{process}/fd"):
            link = f"/proc/{process}/fd/{number}"
            if os.readlink(link).endswith(" (deleted)"):
                total += os.stat(link).st_size
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass
    return total


def bytes_in(folder):
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                pass
    return total


def run_and_watch(command, folder):
    """Runs a command and returns the most that it had on disk in a folder at one time."""
    most = 0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            most = max(most, bytes_in(folder) + nameless_bytes(process.pid))
            time.sleep(0.003)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: {process.returncode}")
    return max(most, bytes_in(folder))


def compare(kindred, folder, extension, options):
    source = str(folder / f"in.{extension}")
    with tempfile.TemporaryDirectory(dir=folder) as work:
        work = pathlib.Path(work)
        target = str(work / f"out.{extension}")
        plan = json.loads(subprocess.run([kindred, "plan", source, "-o", target, "--json", *options], check=True,
                                         stdout=subprocess.PIPE).stdout)
        report = folder / "report.json"
        disk = run_and_watch([kindred, "dedup", source, "-o", target, "--quiet", "--report", str(report), *options],
                             work)
        run = json.loads(report.read_text())
    pairs = {
        "documents": (plan["documents"], run["documents"]),
        "bytes": (plan["text_bytes"], run["text_bytes"]),
        "memory": (plan["memory_bytes"], run["peak_memory_bytes"]),
        "disk": (plan["disk_bytes"], disk),
        "seconds": (plan["seconds"], run["seconds"]),
    }
    if is_sanitized(kindred):
        del pairs["memory"]
    wrong = []
    words = []
    for name, (expected, seen) in pairs.items():
        ratio = expected / seen
        words.append(f"{name} {ratio:.2f}")
        if name != "seconds" and not 1 / FACTOR <= ratio <= FACTOR:
            wrong.append(f"{extension} {' '.join(options)}: {name}: {expected:.6g} expected, {seen:.6g} seen")
    print(f"{extension:8}{' '.join(options):32}", *words, flush=True)
    return wrong


def is_sanitized(kindred):
    """Sanitizers keep memory of their own, which no plan knows of."""
    return b"__asan_init" in pathlib.Path(kindred).read_bytes()


def main():
    kindred = os.path.abspath(sys.argv[1])
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 90_000
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_inputs(f"{kindred}-bench", folder, records)
        for extension, options in RUNS:
            wrong += compare(kindred, folder, extension, options)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
