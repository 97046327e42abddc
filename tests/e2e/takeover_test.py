#!/usr/bin/env python3
"""A run against shared stores that is killed on one machine is taken over on another, whose files have other paths:
the output, the decisions, the store and the ledger are those of a run that nobody killed. A worker that was only stopped
notices that its run was taken over, and writes nothing.

usage: takeover_test.py KINDRED
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import buckets
import ingest_test

CONFIG = """
global_fingerprints:
  backend: s3
  root_path: cache
  checkpoints: {checkpoints}
  storage: {{type: s3, bucket: {bucket}, prefix: {prefix}}}
"""


class Worker:
    """A machine: its own folder, and the files that all machines share."""

    def __init__(self, kindred, folder, server, prefix, checkpoints):
        self.kindred, self.folder, self.server = kindred, folder, server
        self.at = checkpoints
        folder.mkdir()
        (folder / "kindred.yaml").write_text(CONFIG.format(bucket=buckets.BUCKET, prefix=prefix,
                                                           checkpoints=checkpoints))

    def command(self, *more):
        return [self.kindred, "dedup", self.folder / "in.jsonl", "-o", self.folder / "out.jsonl", "--config",
                self.folder / "kindred.yaml", "--run", "nightly/1", "--checkpoint-every", "0", "--json", *more]

    def start(self, *more):
        return subprocess.Popen(self.command(*more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.server.environment())

    def run(self, *more, code=0):
        process = self.start(*more)
        out, error = process.communicate()
        assert process.returncode == code, f"exit code {process.returncode}: {error}"
        return json.loads(out) if code == 0 else error

    def ask(self, *words):
        return subprocess.run([self.kindred, *words, "--config", self.folder / "kindred.yaml"], check=True,
                              capture_output=True, text=True, env=self.server.environment()).stdout

    def checkpoint(self):
        name = "nightly%2F1.json"
        if self.at.startswith("s3://"):
            content = self.server.get(self.at.split("/", 3)[3] + "/" + name)
        else:
            path = self.folder / self.at / name
            content = path.read_bytes() if path.exists() else None
        try:
            return None if content is None else json.loads(content)["checkpoint"]
        except ValueError:
            return None  # s3rver shows an object while it is written, as S3 does not

    def wait_for_records(self, process, attempt, least=1):
        while True:
            now = self.checkpoint()
            if now and now["attempt"] == attempt and sum(file["records"] for file in now["files"]) >= least:
                return
            if process.poll() == 0:
                return  # on a busy machine the run may be over before it is seen to have begun
            assert process.poll() is None, f"ended too early: {process.communicate()}"
            time.sleep(0.01)


def outputs(worker):
    return (worker.folder / "out.jsonl").read_bytes(), ingest_test.decisions(worker.folder)


def check_stores(worker, kept):
    worker.ask("store", "check")
    documents = json.loads(worker.ask("store", "stats", "--json"))["documents"]
    with_text = sum(1 for line in kept.splitlines() if json.loads(line)["text"])
    assert documents == with_text, f"{documents} documents in the store, {with_text} kept"
    listed = [json.loads(line) for line in worker.ask("ledger", "list", "--run", "nightly/1", "--json").splitlines()]
    assert len(listed) == len({entry["doc"] for entry in listed}) == ingest_test.RECORDS, f"{len(listed)} entries"


def take_over(kindred, folder, server, checkpoints, number):
    """A run is killed on the first machine and taken over on the second."""
    shared = str(folder / f"shared{number}") if checkpoints == "folder" else f"{checkpoints}/{number}"
    alone = Worker(kindred, folder / f"alone{number}", server, f"alone{number}", "checkpoints")
    first = Worker(kindred, folder / f"first{number}", server, f"store{number}", shared)
    second = Worker(kindred, folder / f"second{number}", server, f"store{number}", shared)
    if checkpoints == "folder":
        first.at = second.at = shared
    for worker in (alone, first, second):
        ingest_test.make_input(worker.folder / "in.jsonl", number)
    alone.run()
    assert "no checkpoint" in second.run("--resume", code=1)
    process = first.start()
    first.wait_for_records(process, 1)
    process.send_signal(signal.SIGKILL)
    if process.wait() == 0:
        return take_over(kindred, folder, server, checkpoints, number + 10)  # it was over before the kill
    assert not (first.folder / "out.jsonl").exists(), "a killed run has an output"
    assert "--resume" in second.run(code=1), "begun elsewhere, and not noticed"
    report = second.run("--resume")
    assert report["attempt"] == 2 and report["repeated"] > 0, report
    assert outputs(second) == outputs(alone), "other outputs than without the kill"
    check_stores(second, (second.folder / "out.jsonl").read_text())
    done = second.checkpoint()
    assert done["done"] and sum(file["records"] for file in done["files"]) == ingest_test.RECORDS, done
    assert sum(source["records"] for source in done["sources"]) == ingest_test.RECORDS, done
    (second.folder / "in.jsonl").write_text("{}\n")
    assert "another input" in second.run("--resume", code=1)


def notice(kindred, folder, server):
    """A worker that only seemed to be dead stops at its next save."""
    shared = f"s3://{buckets.BUCKET}/seemed/checkpoints"
    first, second = (Worker(kindred, folder / f"seemed{name}", server, "seemed/store", shared) for name in "12")
    for worker in (first, second):
        ingest_test.make_input(worker.folder / "in.jsonl", 7)
    process = first.start()
    first.wait_for_records(process, 1)
    process.send_signal(signal.SIGSTOP)
    second.run("--resume")
    process.send_signal(signal.SIGCONT)
    _, error = process.communicate()
    assert process.returncode == 1 and "taken run nightly/1 over" in error, error
    assert not (first.folder / "out.jsonl").exists(), "it wrote its output"
    check_stores(second, (second.folder / "out.jsonl").read_text())


def exchange(kindred, folder, server):
    """A store is exported to the bucket and imported into another one."""
    there = Worker(kindred, folder / "exported", server, "store0", "checkpoints")
    here = Worker(kindred, folder / "imported", server, "copy", "checkpoints")
    address = f"s3://{buckets.BUCKET}/backup/"
    assert address in there.ask("store", "export", address)
    assert sorted(server.list("backup/")) == ["backup/fingerprints.parquet", "backup/ledger.parquet"]
    here.ask("store", "import", address)
    for words in (["store", "stats", "--json"], ["ledger", "list", "--run", "nightly/1", "--json"]):
        mine, yours = (json.loads(worker.ask(*words).splitlines()[0]) for worker in (here, there))
        for each in (mine, yours):
            each.pop("bytes", None)
        assert mine == yours, f"{words}: {mine} {yours}"


def main():
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name, buckets.Server() as server:
        folder = pathlib.Path(name)
        take_over(kindred, folder, server, f"s3://{buckets.BUCKET}/checkpoints", 0)
        take_over(kindred, folder, server, "folder", 1)
        notice(kindred, folder, server)
        exchange(kindred, folder, server)
    print("taken over from a bucket and from a folder; a stopped worker noticed it; a store copied through a bucket")


if __name__ == "__main__":
    main()
