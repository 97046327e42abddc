#!/usr/bin/env python3
"""Partitions of an index are split, merged and retrained, and a half moves to another node, while documents are written,
changed, deleted and searched over two nodes; a node is killed meanwhile. The answers at the end are those of one local index.

usage: partitions_test.py KINDRED
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from nodes_test import PATIENCE, Process, must, wait_until
from moves_test import Worker, try_ask

INDEXES = "/api/v1/indexes"
CLUMPS = 12
KEYS = 400


def vector_of(draw):
    """Near one of a few places, of which some have far more than others."""
    clump = random.Random(min(draw.randrange(CLUMPS), draw.randrange(CLUMPS)))
    return [round(clump.uniform(0, 8) + draw.random() / 2, 4) for _ in range(4)]


def document_of(draw, key, version):
    return {"id": f"k{key}", "text": f"key{key} version{version} " + " ".join(draw.choices(["sea", "land", "sky", "tide"], k=6)),
            "embedding": vector_of(draw), "links": [{"to": f"k{(key + 1) % KEYS}", "name": "next"}]}


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        nodes = [Process(kindred, folder / f"node{number}", ["node"]) for number in range(2)]
        words = ["router", "--move-grace", "0.5"]
        for node in nodes:
            words += ["--node", f"127.0.0.1:{node.port}"]
        router = Process(kindred, folder / "router", words)
        at = ["--at", f"127.0.0.1:{router.port}"]

        def run(*arguments, code=0):
            done = subprocess.run([kindred, *map(str, arguments)], capture_output=True, text=True, timeout=4 * PATIENCE)
            assert done.returncode == code, (arguments, done.stdout, done.stderr)
            return done.stdout if code == 0 else done.stderr

        draw = random.Random(11)
        sample = folder / "sample.jsonl"
        sample.write_text("".join(json.dumps(document_of(draw, 10_000 + i, 0)) + "\n" for i in range(120)))
        given = ["--dim", "4"]
        run("index", "create", "papers", *given, "--partitions", "6", "--sample", sample, *at)
        run("index", "create", "one", *given, "--data", folder / "local")

        state, since, lock = {}, {}, threading.Lock()  # `since` is odd while the key is written

        def write(key, version):
            document = None if draw.random() < 0.15 else document_of(draw, key, version)
            with lock:
                since[key] = since.get(key, 0) + 1
            end = time.monotonic() + PATIENCE
            while True:
                if document is None:
                    status, answer = try_ask(router, "DELETE", f"{INDEXES}/papers/document?id=k{key}")
                else:
                    status, answer = try_ask(router, "POST", f"{INDEXES}/papers/documents", {"documents": [document]})
                if 0 < status < 300 or status == 404:
                    break
                assert status in (0, 500, 502, 503, 504), (status, answer)
                assert time.monotonic() < end, (status, answer)
                time.sleep(0.02)
            with lock:
                state[key] = document
                since[key] += 1

        for key in range(KEYS):
            write(key, 0)
        versions = iter(range(1, 1_000_000))
        written, read = [0], [0]

        def writer():
            write(draw.randrange(KEYS), next(versions))
            written[0] += 1

        pick = random.Random(12)

        def reader():
            """A key that nobody writes to meanwhile is as it was written."""
            key = pick.randrange(KEYS)
            with lock:
                before, version = state[key], since[key]
            status, answer = try_ask(router, "GET", f"{INDEXES}/papers/search?q=key{key}")
            with lock:
                changed = since[key] != version or version % 2 == 1
            if status != 200 or changed:
                return
            ids = [hit["id"] for hit in answer["hits"]]
            assert ids == ([] if before is None else [f"k{key}"]), (key, ids, before)
            read[0] += 1

        workers = [Worker(writer), Worker(reader)]
        try:
            def partitions():
                shown = must(router, "GET", f"{INDEXES}/papers/shards")
                addresses = [one["address"] for one in shown["shards"]]
                return [(one["entities"], one["partition"], addresses[one["shard"]]) for one in shown["partitions"]]

            largest = max(partitions())
            assert "nothing was begun" in run("shards", "split", "papers", "--partition", largest[1], "--dry-run", *at)
            assert "begun" in run("shards", "split", "papers", "--partition", largest[1], "--into", "3", "--wait", *at)
            after = partitions()
            assert len(after) == 8, after
            halves = [one for one in after if one[1] in (largest[1], 6, 7)]
            assert all(one[0] > 0 and one[2] == largest[2] for one in halves), halves
            assert max(one[0] for one in halves) < largest[0], (largest, halves)
            assert "done" in run("shards", "migrations", "papers", *at)

            # The halves of a split move as any partition does.
            other = next(f"127.0.0.1:{node.port}" for node in nodes if f"127.0.0.1:{node.port}" != largest[2])
            run("shards", "move", "papers", "7", "--to", other, "--wait", *at)

            # A node is killed while partitions are divided.
            run("shards", "retrain", "papers", largest[2], *at)
            nodes[0].kill()
            nodes[0].start()
            wait_until("the retraining ends", lambda: must(router, "GET", f"{INDEXES}/papers/moves")["repartition"]["over"])

            small = sorted(one for one in partitions() if one[2] == largest[2])[:2]
            run("shards", "merge", "papers", small[0][1], small[1][1], "--wait", *at)
            assert "different nodes" in run("shards", "merge", "papers", small[0][1], "7", *at, code=1)
            plan = run("shards", "balance", "papers", "--partitions", "--target", "20", "--dry-run", *at)
            assert "nothing was begun" in plan, plan
        finally:
            for worker in workers:
                worker.stop()
        assert written[0] > 50 and read[0] > 50, (written, read)

        local = folder / "local.jsonl"
        local.write_text("".join(json.dumps(one) + "\n" for one in state.values() if one))
        run("index", "add", "one", local, "--data", folder / "local")
        alive = {f"k{key}" for key, one in state.items() if one}
        listed, after_page = [], ""
        while True:
            page = must(router, "GET", f"{INDEXES}/papers/documents?after={after_page}")
            listed += [one["id"] for one in page["documents"]]
            if page["next"] is None:
                break
            after_page = page["next"]
        assert sorted(listed) == sorted(alive), sorted(set(listed) ^ alive)
        for question in (["tide"], ["sea land"], ["--vector", "[1,2,3,4]", "--exact"], ["--vector", "[5,5,5,5]", "--exact"]):
            words = ["search", "{}", *question, "-k", "50", "--json"]
            ours, theirs = ([hit["id"] for hit in json.loads(run(*[name if word == "{}" else word for word in words], *where))["hits"]]
                            for name, where in (("papers", at), ("one", ["--data", folder / "local"])))
            if question[0] == "--vector":
                assert ours == theirs, (question, ours, theirs)
            else:
                assert set(ours) <= alive and len(ours) == min(50, len(theirs)), (question, ours, theirs)
        for process in [router, *nodes]:
            assert process.stop() == 0
    print(f"split, moved, retrained and merged while {written[0]} writes and {read[0]} reads went on")


if __name__ == "__main__":
    main()
