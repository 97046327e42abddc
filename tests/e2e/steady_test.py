#!/usr/bin/env python3
"""Open connections and memory of nodes and a router stay flat under mixed load: searches, walks, reads, new versions of
documents, deletions, by callers that keep their connections and callers that do not.

usage: steady_test.py KINDRED [SECONDS]

SECONDS (default 20) is how long the load lasts. The documents stay the same in number, so that what grows is a leak. The first
third warms up; nothing may grow by more than a quarter and 32 MiB, or by more than a few connections, from the second third to the
last one.
"""
import http.client
import json
import os
import pathlib
import random
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
MORE_MEMORY = 32 << 20
MORE_FILES = 8
PAPERS = "/api/v1/indexes/papers"


class Caller:
    """A thread that sends requests until it is stopped. Any answer but the expected ones is kept as a failure."""

    def __init__(self, port, number, made):
        self.port, self.made, self.requests, self.late, self.failure, self.stopped = port, made, 0, 0, None, False
        self.draw, self.keeps = random.Random(number), number % 2 == 0
        self.connection = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped and self.failure is None:
            method, path, body, expected = self.next_request()
            try:
                self.send(method, path, body, expected)
                self.requests += 1
            except Exception as problem:  # shown by the main thread
                self.failure = f"{method} {path} {json.dumps(body)[:200]}: {problem!r}"

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
        if answer.status == 502:
            self.late += 1  # a node did not answer in time, which may happen on a busy machine
        else:
            assert answer.status in expected, (answer.status, text)
        if not self.keeps:
            self.connection.close()
            self.connection = None

    def stop(self):
        self.stopped = True
        self.thread.join()


def resident(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the process has ended")


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
    seen = {name: {"memory": [], "sockets": []} for name in servers}
    begin = time.monotonic()
    for sample in range(SAMPLES):
        time.sleep(max(0.0, begin + (sample + 1) * seconds / SAMPLES - time.monotonic()))
        for caller in callers:
            assert caller.failure is None, caller.failure
        for name, server in servers.items():
            seen[name]["memory"].append(resident(server.process))
            seen[name]["sockets"].append(sockets(server.process))
    return seen


def check_flat(seen):
    third = SAMPLES // 3
    for name, figures in seen.items():
        memory, files = figures["memory"], figures["sockets"]
        before, after = statistics.median(memory[third:2 * third]), statistics.median(memory[2 * third:])
        first, last = max(files[:2 * third]), max(files[2 * third:])
        print(f"{name:8} memory MiB: {memory[0] >> 20} at first, {int(before) >> 20} in the second third, {int(after) >> 20} in the last, "
              f"{max(memory) >> 20} at most; sockets: {first} at most before the last third, {last} in it")
        assert after <= before * 1.25 + MORE_MEMORY, f"the memory of {name} grows: {memory}"
        assert last <= first + MORE_FILES, f"the connections of {name} grow: {files}"


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        servers = {f"node{i}": Process(kindred, scratch / f"node{i}", ["node", *guarded]) for i in range(NODES)}
        callers = []
        try:
            places = [word for node in servers.values() for word in ("--node", f"127.0.0.1:{node.port}")]
            router = Process(kindred, scratch / "router", ["router", *guarded, "--node-token-file", scratch / "token", *places])
            servers["router"] = router
            must(router, "POST", "/api/v1/indexes", {"name": "papers", "embed": "none", "partitions": 16})
            made = documents(IDS, seed=3)
            for start in range(0, IDS, 100):
                must(router, "POST", f"{PAPERS}/documents", {"documents": made[start:start + 100]})
            callers = [Caller(router.port, number, made) for number in range(CALLERS)]
            seen = watch(servers, callers, seconds)
            for caller in callers:
                caller.stop()
                assert caller.failure is None, caller.failure
            requests, late = (sum(getattr(caller, what) for caller in callers) for what in ("requests", "late"))
            assert requests > late
            check_flat(seen)
            codes = [one.stop() for one in servers.values()]
            assert codes == [0] * len(codes), codes
        finally:
            for caller in callers:
                caller.stop()
            for one in servers.values():
                one.process.kill()
    print(f"steady: {requests} requests in {seconds:.0f} s, {late} of them not answered in time")


if __name__ == "__main__":
    main()
