#!/usr/bin/env python3
"""A node that loses its disk: with `--log` and `--ack durable`, to a folder and to S3, everything that was acknowledged is
there after SIGKILL and the loss of the data folder. Backups of the running node are restored as of a time.

usage: shipped_log_test.py KINDRED [CYCLES]

CYCLES (default 2) is how often the node is killed and its data folder removed, in each place.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from buckets import Server
from nodes_test import PATIENCE, Process, ask, must
from watch_test import get, samples

BATCH = 20
WRITERS = 4


class Writer(threading.Thread):
    """Adds documents until it is told to stop, and notes those that were acknowledged."""

    def __init__(self, router, name):
        super().__init__()
        self.router, self.name = router, name
        self.acknowledged, self.stopped = [], False

    def run(self):
        number = 0
        while not self.stopped:
            ids = [f"{self.name}-{number}-{i}" for i in range(BATCH)]
            batch = [{"id": one, "title": "tide", "text": f"tide {one}"} for one in ids]
            number += 1
            try:
                status, _ = ask(self.router, "POST", "/api/v1/indexes/papers/documents", {"documents": batch})
            except OSError:
                continue
            if status < 300:
                self.acknowledged += ids
            else:
                time.sleep(0.02)


def wait_for(what, happens):
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def all_ids(router):
    ids, after = set(), None
    while True:
        page = must(router, "GET", "/api/v1/indexes/papers/documents" + (f"?after={after}" if after else ""))
        ids |= {one["id"] for one in page["documents"]}
        after = page.get("next")
        if not after:
            return ids


def is_there(router, one):
    return one in all_ids(router)


def check_all(router, writers):
    def all_answered():
        status, _ = ask(router, "GET", "/api/v1/indexes/papers/search?q=tide")
        return status == 200
    wait_for("the index answers", all_answered)
    ids = [one for writer in writers for one in writer.acknowledged]
    there = all_ids(router)
    lost = [one for one in ids if one not in there]
    assert not lost, f"{len(lost)} of {len(ids)} acknowledged documents are lost: {lost[:5]}"
    return len(ids)


class Node(Process):
    def __init__(self, kindred, folder, arguments, environment):
        self.environment = environment
        super().__init__(kindred, folder, arguments)

    def start(self):
        before = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            super().start()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def metrics_port(self):
        said = (self.folder / "stdout").read_text()
        return int(re.search(r"Metrics are at 127\.0\.0\.1:(\d+)/metrics", said)[1])


def lose_the_disk(node, router, cycles, draw):
    writers, total, seconds = [], 0, 0.0
    for cycle in range(cycles):
        fresh = [Writer(router, f"w{cycle}-{i}") for i in range(WRITERS)]
        begun = time.monotonic()
        for writer in fresh:
            writer.start()
        wanted = draw.randint(3, 10) * BATCH
        wait_for("writes are acknowledged", lambda: sum(len(writer.acknowledged) for writer in fresh) >= wanted)
        node.kill()
        seconds += time.monotonic() - begun
        for writer in fresh:
            writer.stopped = True
        for writer in fresh:
            writer.join()
        writers += fresh
        shutil.rmtree(node.folder / "data")
        node.start()
        total = check_all(router, writers)
        print(f"  cycle {cycle}: all of {total} acknowledged documents are there")
    batches = total / BATCH
    print(f"  durable: {batches / seconds:.0f} batches of {BATCH} documents a second by {WRITERS} writers")
    return writers


def run(kindred, environment, *words):
    done = subprocess.run([kindred, *map(str, words)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def check_backup(kindred, node, router, log, environment, scratch, writers):
    """A backup of the running node, and two times of it."""
    wait_for("a snapshot",
             lambda: samples(get(node.metrics_port(), "/metrics", token=None)[1])
             .get('kindred_log_snapshot_position{index="papers"}', 0) > 0)
    must(router, "POST", "/api/v1/indexes/papers/documents", {"documents": [{"id": "early", "text": "tide early"}]})
    time.sleep(2.1)  # times on the command line are in seconds
    between = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
    must(router, "POST", "/api/v1/indexes/papers/documents", {"documents": [{"id": "late", "text": "tide late"}]})
    said = run(kindred, environment, "shards", "backup", "papers", "--from", log, "--to", scratch / "backup")
    assert said.startswith("papers  n1  "), said
    assert "0 bytes copied" in run(kindred, environment, "shards", "backup", "--from", log, "--to", scratch / "backup")
    node.stop()
    for at, late in (([], True), (["--at", between], False)):
        shutil.rmtree(node.folder / "data")
        run(kindred, environment, "shards", "restore", "--from", scratch / "backup", "--data", node.folder / "data",
            "--node", "n1", *at)
        node.start()
        check_all(router, writers)
        assert is_there(router, "early") and is_there(router, "late") == late, (at, late)
        node.stop()
    node.start()
    assert not is_there(router, "late")


def check_place(kindred, scratch, log, environment, cycles):
    node = Node(kindred, scratch / "node",
                ["node", "--log", log, "--log-name", "n1", "--ack", "durable", "--metrics-port", "0"], environment)
    router = Process(kindred, scratch / "router", ["router", "--node", f"127.0.0.1:{node.port}"])
    try:
        must(router, "POST", "/api/v1/indexes", {"name": "papers", "embed": "none", "partitions": 4})
        writers = lose_the_disk(node, router, cycles, random.Random(int(os.environ.get("KILL_SEED", "1"))))
        metrics = samples(get(node.metrics_port(), "/metrics", token=None)[1])
        assert metrics['kindred_log_durable_position{index="papers"}'] <= metrics['kindred_log_position{index="papers"}']
        assert metrics['kindred_log_deposed{index="papers"}'] == 0, metrics
        check_backup(kindred, node, router, log, environment, scratch, writers)
    finally:
        for one in (router, node):
            one.process.kill()
            one.process.wait()


def check_usage(kindred, scratch):
    file = scratch / "calls.log"
    file.write_text("")
    for words, said in ((["--log", file], "--call-log"), (["--ack", "durable"], "needs --log"),
                        (["--log", scratch / "x", "--ack", "soon"], "local or durable"), (["--log", "s3://"], "names no bucket")):
        done = subprocess.run([kindred, "node", "--data", scratch / "none", *words], capture_output=True, text=True)
        assert done.returncode == 2 and said in done.stderr, (words, done.returncode, done.stderr)


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    cycles = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_usage(kindred, scratch)
        print("in a folder:")
        check_place(kindred, scratch / "folder", scratch / "log", dict(os.environ), cycles)
        print("in S3:")
        with Server() as server:
            check_place(kindred, scratch / "s3", "s3://corpora/kindred", server.environment(), cycles)
    print("what was durable survives the loss of a disk")


if __name__ == "__main__":
    main()
