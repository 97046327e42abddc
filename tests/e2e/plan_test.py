#!/usr/bin/env python3
"""The estimates of `kindred plan` are right for the run within a factor of 1.5.

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

from memory_mix.runs import is_sanitized

FACTOR = 1.5
TRIES = 5
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
    """The bytes of deleted files that a process still has open."""
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
    """Runs a command and returns the largest observed size of its files in a folder."""
    most = 0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            most = max(most, bytes_in(folder) + nameless_bytes(process.pid))
            time.sleep(0.003)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}: {process.returncode}")
    return max(most, bytes_in(folder))


def run_dedup(kindred, folder, extension, options):
    """The report of a run, and the largest observed size of its files."""
    report = folder / "report.json"
    with tempfile.TemporaryDirectory(dir=folder) as work:
        disk = run_and_watch([kindred, "dedup", str(folder / f"in.{extension}"), "-o", f"{work}/out.{extension}", "--quiet",
                              "--report", str(report), *options], work)
    return json.loads(report.read_text()), disk


def compare(kindred, folder, extension, options):
    plan = json.loads(subprocess.run([kindred, "plan", str(folder / f"in.{extension}"), "-o",
                                      str(folder / f"out.{extension}"), "--json", *options], check=True,
                                     stdout=subprocess.PIPE).stdout)
    run, disk = run_dedup(kindred, folder, extension, options)
    # The size is polled, and on a busy machine the peak may fall between two polls. The maximum of several runs
    # counts.
    for _ in range(TRIES - 1):
        if plan["disk_bytes"] <= FACTOR * disk:
            break
        disk = max(disk, run_dedup(kindred, folder, extension, options)[1])
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
