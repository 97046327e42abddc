#!/usr/bin/env python3
"""Open connections and memory of nodes and a router stay flat under mixed load: searches, walks, reads, new versions of
documents, deletions, by callers that keep their connections and callers that do not. Every request is answered.

usage: steady_test.py KINDRED [SECONDS]

SECONDS (default 20) is how long the load lasts. The documents stay the same in number and have no fragments, so that what grows is a leak. The first
third warms up. From the second third to the last one these may not grow:
- what a process has allocated (process_heap_used_bytes), less what its stores keep in memory up to fixed limits: changes that are
  not in tables yet, and pieces of tables that were read (kindred_shard_memory_bytes), which fill up for an hour;
- what is resident beside all that was allocated: the program, stacks, and freed memory that the allocator keeps;
- sockets.
"""
import http.client
import json
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import threading
import time

from nodes_test import PATIENCE, TOKEN, WORDS, Process, documents, must

NODES = 3
IDS = 2_000
CALLERS = 4
SAMPLES = 60  # over the whole run
MORE_ALLOCATED = 4 << 20
MORE_BESIDE = 16 << 20
MORE_FILES = 8
PAPERS = "/api/v1/indexes/papers"


class Caller:
    """A thread that sends requests until it is stopped. Any answer but the expected ones is kept as a failure."""

    def __init__(self, port, number, made):
        self.port, self.made, self.requests, self.slowest, self.failure, self.stopped = port, made, 0, 0.0, None, False
        self.draw, self.keeps = random.Random(number), number % 2 == 0
        self.connection = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped and self.failure is None:
            method, path, body, expected = self.next_request()
            begin = time.monotonic()
            try:
                self.send(method, path, body, expected)
                self.requests += 1
                self.slowest = max(self.slowest, time.monotonic() - begin)
            except Exception as problem:  # shown by the main thread
                self.failure = f"{method} {path} {json.dumps(body)[:200]}, after {time.monotonic() - begin:.1f} s: {problem!r}"

    def next_request(self):
        """Method, path, body and the statuses that are right."""
        draw = self.draw
        one = f"doc-{draw.randrange(IDS)}"
        kind = draw.randrange(10)
        if kind < 2:
            batch = [{**draw.choice(self.made), "id": f"doc-{draw.randrange(IDS)}"} for _ in range(20)]
            return "POST", f"{PAPERS}/documents", {"documents": batch}, [200]
        if kind == 2:
            return "DELETE", f"{PAPERS}/document?id={one}", None, [204, 404]
        if kind == 3:
            return "GET", f"{PAPERS}/document?id={one}", None, [200, 404]
        if kind == 4:
            question = {"mode": "graph", "from": [one], "expand": 2}
            return "POST", f"{PAPERS}/search", question, [200, 404]
        words = " ".join(draw.choices(WORDS, k=draw.randint(1, 3)))
        return "POST", f"{PAPERS}/search", {"q": words, "facets": ["tag"]}, [200]

    def send(self, method, path, body, expected):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status in expected, (answer.status, text)
        if not self.keeps:
            self.connection.close()
            self.connection = None

    def stop(self):
        self.stopped = True
        self.thread.join()


class Figures:
    """What a server uses, sample by sample."""

    def __init__(self, server, port):
        self.server, self.port = server, port
        self.resident, self.stores, self.kept, self.beside, self.sockets = [], [], [], [], []

    def sample(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        total = lambda name: sum(int(float(line.split()[-1])) for line in lines if re.match(name + "[{ ]", line))
        resident, allocated, stores = (total(name) for name in (
            "process_resident_memory_bytes", "process_heap_used_bytes", "kindred_shard_memory_bytes"))
        self.resident.append(resident)
        self.stores.append(stores)
        self.kept.append(allocated - stores)
        self.beside.append(resident - allocated)
        self.sockets.append(sockets(self.server.process))


def sockets(process):
    count = 0
    for entry in os.scandir(f"/proc/{process.pid}/fd"):
        try:
            count += os.readlink(entry.path).startswith("socket:")
        except FileNotFoundError:
            pass  # closed since
    return count


def watch(servers, callers, seconds):
    """Samples of memory and sockets, by server."""
    begin = time.monotonic()
    for sample in range(SAMPLES):
        time.sleep(max(0.0, begin + (sample + 1) * seconds / SAMPLES - time.monotonic()))
        for caller in callers:
            assert caller.failure is None, caller.failure
        for figures in servers.values():
            figures.sample()


def check_flat(servers):
    third = SAMPLES // 3
    middle = lambda values: [statistics.median(values[third:2 * third]), statistics.median(values[2 * third:])]
    told = lambda values: " then ".join(f"{value / 2**20:.1f}" for value in values)
    for name, one in servers.items():
        kept, beside = middle(one.kept), middle(one.beside)
        first, last = max(one.sockets[:2 * third]), max(one.sockets[2 * third:])
        print(f"{name:6} MiB in the second third and the last: allocated beside the stores {told(kept)}, by the stores {told(middle(one.stores))}, "
              f"resident beside that {told(beside)}, in all {told(middle(one.resident))}; sockets: {first} at most, then {last}")
        assert kept[1] <= kept[0] + MORE_ALLOCATED, f"what {name} allocates grows: {one.kept}"
        assert beside[1] <= beside[0] + MORE_BESIDE, f"what {name} has resident and not allocated grows: {one.beside}"
        assert last <= first + MORE_FILES, f"the connections of {name} grow: {one.sockets}"


def metrics_port(node):
    return int(re.search(r"Metrics are at 127\.0\.0\.1:(\d+)/metrics", (node.folder / "stdout").read_text())[1])


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        nodes = [Process(kindred, scratch / f"node{i}", ["node", *guarded, "--metrics-port", "0"]) for i in range(NODES)]
        processes, callers = list(nodes), []
        try:
            places = [word for node in nodes for word in ("--node", f"127.0.0.1:{node.port}")]
            router = Process(kindred, scratch / "router", ["router", *guarded, "--node-token-file", scratch / "token", *places])
            processes.append(router)
            servers = {f"node{i}": Figures(node, metrics_port(node)) for i, node in enumerate(nodes)}
            servers["router"] = Figures(router, router.port)
            must(router, "POST", "/api/v1/indexes", {"name": "papers", "embed": "none", "partitions": 16})
            # A new version of a document adds its fragments to those that there are.
            made = [{key: value for key, value in one.items() if key != "fragments"} for one in documents(IDS, seed=3)]
            for start in range(0, IDS, 100):
                must(router, "POST", f"{PAPERS}/documents", {"documents": made[start:start + 100]})
            callers = [Caller(router.port, number, made) for number in range(CALLERS)]
            watch(servers, callers, seconds)
            for caller in callers:
                caller.stop()
                assert caller.failure is None, caller.failure
            requests, slowest = sum(caller.requests for caller in callers), max(caller.slowest for caller in callers)
            check_flat(servers)
            codes = [one.stop() for one in processes]
            assert codes == [0] * len(codes), codes
        finally:
            for caller in callers:
                caller.stop()
            for one in processes:
                one.process.kill()
    print(f"steady: {requests} requests in {seconds:.0f} s, all of them answered, the slowest one after {slowest:.2f} s")


if __name__ == "__main__":
    main()
