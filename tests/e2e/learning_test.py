#!/usr/bin/env python3
"""Indexes over nodes that learn from a sample: vectors of their own documents, and where to place them, by the command line;
and near-duplicates on different nodes.

usage: learning_test.py KINDRED
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from nodes_test import Process

SEA = "tide moon harbour wave shore current sailor anchor island reef".split()
BREAD = "baker flour oven bread yeast dough kitchen butter loaf crust".split()


def texts(count):
    """Documents about two subjects that have no word in common."""
    draw = random.Random(5)
    return [{"id": f"{name}-{number}", "text": " ".join(draw.choices(words, k=6))}
            for number in range(count // 2) for name, words in (("sea", SEA), ("bread", BREAD))]


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        nodes = [Process(kindred, folder / f"node{number}", ["node"]) for number in range(3)]
        words = ["router"]
        for node in nodes:
            words += ["--node", f"127.0.0.1:{node.port}"]
        router = Process(kindred, folder / "router", words)
        at = ["--at", f"127.0.0.1:{router.port}"]

        def run(*arguments, code=0):
            done = subprocess.run([kindred, *arguments], capture_output=True, text=True)
            assert done.returncode == code, (arguments, done.stdout, done.stderr)
            return done.stdout if code == 0 else done.stderr

        papers = folder / "papers.jsonl"
        papers.write_text("".join(json.dumps(one) + "\n" for one in texts(400)))
        assert "--sample" in run("index", "create", "papers", *at, code=1)
        assert "need 640" in run("index", "create", "papers", "--sample", papers, *at, code=1)
        assert "--at" in run("index", "create", "papers", "--sample", papers, code=2)
        run("index", "create", "papers", "--partitions", "12", "--sample", papers, *at)
        assert "400 documents added" in run("index", "add", "papers", papers, *at)
        # No document has to have any of these words next to each other: nearness finds the subject.
        found = json.loads(run("search", "papers", "moon anchor", "--mode", "vector", "--json", *at))
        assert len(found["hits"]) == 10 and all(hit["id"].startswith("sea") for hit in found["hits"]), found
        # Another process reads the model from the nodes.
        router.kill()
        router.start()
        again = json.loads(run("search", "papers", "moon anchor", "--mode", "vector", "--json", *at))
        assert [hit["id"] for hit in again["hits"]] == [hit["id"] for hit in found["hits"]]

        copies = folder / "copies.jsonl"
        draw = random.Random(6)
        lines = []
        for number in range(30):
            text = " ".join(draw.choices(SEA + BREAD, k=60))
            lines += [{"id": f"first-{number}", "text": text}, {"id": f"copy-{number}", "text": text + " at last"}]
        copies.write_text("".join(json.dumps(one) + "\n" for one in lines))
        for way, added in (("refuse", 30), ("link", 60)):
            run("index", "create", way, "--embed", "none", "--dedup", way, *at)
            report = json.loads(run("index", "add", way, copies, "--batch", "7", "--json", *at))
            assert report["added"] == added, report
            repeated = report["refused" if way == "refuse" else "linked"]
            assert len(repeated) == 30, report
            assert all(one["id"].replace("copy", "first") == one["duplicate_of"] for one in repeated), report
        for process in [router, *nodes]:
            assert process.stop() == 0
    print("sample, model and near-duplicates over 3 nodes")


if __name__ == "__main__":
    main()
