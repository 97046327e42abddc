#!/usr/bin/env python3
"""Partitions move between the nodes of an index while documents are written, changed, deleted and searched: two routers
over etcd, four nodes, a fifth that joins by `kindred shards split`, and kills of nodes and routers. Nothing acknowledged is
lost, nothing deleted is back, nothing is found twice, and the answers at the end are those of one local index.

usage: moves_test.py KINDRED [MOVES [KILLS]]

MOVES (default 20) is how many partitions move at least, KILLS (default 3) how often a node or a router is killed meanwhile.
KILL_SEED draws other moments.
"""
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from nodes_test import PATIENCE, TOKEN, WORDS, Process, ask, must, wait_until
from routers_test import Etcd

INDEXES = "/api/v1/indexes"
NODES = 4
PARTITIONS = 16
WRITERS = 3
KEYS = 60  # of each writer
AT_ONCE = 4  # moves that the test has under way


def text_of(draw, key, version):
    return f"key{key} version{version} " + " ".join(draw.choices(WORDS, k=draw.randint(5, 30)))


class Keys:
    """What every key is by the last acknowledged write; `since` grows with every change, and is odd while one is under
    way. `past` has when each write began and ended, and what it wrote."""

    def __init__(self):
        self.lock = threading.Lock()
        self.state, self.since, self.past = {}, {}, {}

    def seen(self, key):
        with self.lock:
            return self.state.get(key), self.since.get(key, 0)

    def begin(self, key):
        with self.lock:
            self.since[key] = self.since.get(key, 0) + 1
            self.past.setdefault(key, []).append([time.monotonic(), None, None])

    def end(self, key, document):
        with self.lock:
            self.state[key] = document
            self.since[key] += 1
            self.past[key][-1][1:] = [time.monotonic(), document]

    def possible(self, key, begin):
        """What the key was at some moment from `begin` on, if no write is under way."""
        with self.lock:
            writes = [[0, 0, None], *self.past.get(key, [])]
        ends = [write[1] for write in writes[1:]] + [float("inf")]
        return [write[2] for write, until in zip(writes, ends) if until >= begin]


class Worker:
    """Does `once` again and again on a thread, until it is stopped. Errors end it, and stop() raises them."""

    def __init__(self, once):
        self.once, self.stopped, self.problem = once, False, None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.stopped:
                self.once()
        except BaseException as problem:  # pylint: disable=broad-except
            self.problem = problem

    def stop(self):
        self.stopped = True
        self.thread.join()
        if self.problem:
            raise self.problem


def try_ask(router, *words):
    """The status and the answer; status 0 if the router is away."""
    try:
        return ask(router, *words)
    except (OSError, http.client.HTTPException):
        return 0, {}


def reaches_all(router):
    status, answer = try_ask(router, "GET", f"{INDEXES}/papers")
    return status == 200 and all("problem" not in shard for shard in answer["index"]["shards"])


class World:
    def __init__(self, routers, seed):
        self.routers, self.seed, self.keys = routers, seed, Keys()
        self.acknowledged, self.checked, self.old, self.repeated, self.over = 0, 0, 0, 0, False
        self.times, self.phase = {}, "start"  # seconds of searches, by what went on meanwhile

    def writer(self, number):
        draw = random.Random(self.seed * 100 + number)
        versions = {}

        def send(*words):
            end = time.monotonic() + PATIENCE
            while True:
                status, answer = try_ask(draw.choice(self.routers), *words)
                if 0 < status < 300 or status == 404:
                    self.acknowledged += 1
                    return
                assert not self.over, "the servers are gone"
                assert status in (0, 500, 502, 503, 504), (status, answer)
                self.repeated += 1
                assert time.monotonic() < end, (words[:2], status, answer)
                time.sleep(0.02)

        def once():
            key = number * KEYS + draw.randrange(KEYS)
            self.keys.begin(key)
            if draw.random() < 0.25:
                send("DELETE", f"{INDEXES}/papers/document?id=k{key}")
                self.keys.end(key, None)
                return
            versions[key] = versions.get(key, 0) + 1
            document = {"id": f"k{key}", "title": f"title {draw.choice(WORDS)}", "text": text_of(draw, key, versions[key]),
                        "tags": draw.sample(["sea", "land", "sky"], draw.randint(0, 2)),
                        "links": [{"to": f"k{(key + draw.randrange(1, KEYS)) % (WRITERS * KEYS)}", "name": "cites", "weight": 0.5}]}
            send("POST", f"{INDEXES}/papers/documents", {"documents": [document]})
            self.keys.end(key, document)

        return once

    def reader(self, number):
        draw = random.Random(self.seed * 1000 + number)

        def once():
            key = draw.randrange(WRITERS * KEYS)
            before, since = self.keys.seen(key)
            phase, begin = self.phase, time.monotonic()
            # Every second one waits for the newest state.
            age = draw.choice(["", "&most_behind=0"])
            status, answer = try_ask(draw.choice(self.routers), "GET", f"{INDEXES}/papers/search?q=key{key}&k=10{age}")
            taken = time.monotonic() - begin
            if status != 200:
                assert status == 0 or status >= 500, (status, answer)
                return
            if phase == self.phase:
                self.times.setdefault(phase, []).append(taken)
            if since % 2 == 1 or self.keys.seen(key)[1] != since:
                return  # it was written meanwhile
            found = [hit["id"] for hit in answer["hits"]]
            if "behind_seconds" in answer:
                assert not age, answer
                self.check_old(key, begin - answer["behind_seconds"], answer)
                return
            assert found == ([f"k{key}"] if before else []), f"key {key} is {before}, but the search finds {found}"
            self.checked += 1

        return once

    def check_old(self, key, since, answer):
        """The answer, of a follower, is one that was right at some moment since then."""
        possible = [one and one["text"].split()[1] for one in self.keys.possible(key, since)]
        found = None
        for hit in answer["hits"]:
            assert hit["id"] == f"k{key}" and found is None, answer
            found = "".join(part["text"] for part in hit["snippet"]).split()[1]
        assert found in possible, f"key {key} was {possible} in the last {answer['behind_seconds']} s, and the search finds {found}"
        self.old += 1


class Moves:
    """Keeps partitions moving to other nodes of the index."""

    def __init__(self, routers, draw):
        self.routers, self.draw = routers, draw
        self.begun, self.known, self.done, self.failed = 0, {}, 0, []

    def look(self):
        """The moves that are over are counted; returns how many are not."""
        status, answer = try_ask(self.draw.choice(self.routers), "GET", f"{INDEXES}/papers/moves")
        if status != 200:
            return AT_ONCE
        active = 0
        for move in answer["moves"]:
            if not move["over"]:
                active += 1
                self.known[move["partition"]] = move
            elif self.known.pop(move["partition"], None):
                if move["phase"] == "done":
                    self.done += 1
                else:
                    self.failed.append(move["reason"])
        return active

    def begin(self):
        index = try_ask(self.draw.choice(self.routers), "GET", f"{INDEXES}/papers/shards")[1]
        if "shards" not in index:
            return
        partition = self.draw.randrange(PARTITIONS)
        owner = index["partitions"][partition]["shard"]
        others = [shard["address"] for place, shard in enumerate(index["shards"]) if place != owner]
        status, answer = try_ask(self.draw.choice(self.routers), "POST", f"{INDEXES}/papers/moves",
                                 {"partitions": [partition], "to": self.draw.choice(others)})
        if status == 200 and answer["begun"] == 1:
            self.begun += 1
            self.known[partition] = {}

    def until(self, count, meanwhile=lambda: None):
        """Until so many moves are done in all."""
        end = time.monotonic() + PATIENCE + 10 * count
        while self.done < count:
            assert time.monotonic() < end, (self.done, count, self.known, self.failed)
            if self.look() < AT_ONCE:
                self.begin()
            meanwhile()
            time.sleep(0.02)

    def settle(self):
        wait_until("all moves are over", lambda: self.look() == 0)


class Kills:
    """Kills a node or a router after every few moves, and starts it again."""

    def __init__(self, servers, moves, kills, every, draw):
        self.servers, self.moves, self.left, self.every, self.draw = servers, moves, kills, every, draw
        self.next, self.down, self.back = moves.done + 1, None, 0

    def step(self):
        if self.down and time.monotonic() >= self.back:
            self.down.start()
            self.down = None
        if not self.down and self.left and self.moves.done >= self.next:
            self.down = self.draw.choice(self.servers)
            self.down.kill()
            self.back = time.monotonic() + self.draw.uniform(0, 1.5)
            self.left -= 1
            self.next = self.moves.done + self.draw.uniform(0, 2 * self.every)

    def rest(self):
        """The kills that are left, though no further move is done."""
        self.next = min(self.next, self.moves.done)
        self.step()
        return not self.left and not self.down


def percentile(times, share):
    return 1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


def await_searches(world, phase, count):
    world.phase = phase
    wait_until("searches are answered", lambda: len(world.times.get(phase, [])) >= count)


def check_answers(kindred, scratch, router, world):
    """Counts, facets and hits are those of one local index with the same documents. Scores are compared by no more than that
    they are there: recently deleted documents still count in the statistics of words, on one shard as on many."""
    documents = [one for one in world.keys.state.values() if one]
    lines = scratch / "documents.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in documents))
    data = ["--data", scratch / "twin"]
    for words in (["create", "papers", "--embed", "none"], ["add", "papers", lines]):
        subprocess.run([kindred, "index", *words, *data], check=True, capture_output=True, text=True)
    compared = 0
    for text in [*WORDS[:30], "*", *(f"{a} {b}" for a, b in zip(WORDS, WORDS[7:]))]:
        found = []
        for where in (data, ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]):
            done = subprocess.run([kindred, "search", "papers", text, "--k", "1000", "--facet", "tag", "--json", *where],
                                  capture_output=True, text=True)
            assert done.returncode == 0, done
            answer = json.loads(done.stdout)
            hits = sorted(hit["id"] for hit in answer["hits"])
            assert all(hit["score"] > 0 or text == "*" for hit in answer["hits"]), answer
            found.append((answer["count"], answer["facets"], hits))
        assert found[0] == found[1], f"{text}\n{found[0]}\n{found[1]}"
        compared += len(found[0][2])
    for key in range(WRITERS * KEYS):
        status, answer = ask(router, "GET", f"{INDEXES}/papers/document?id=k{key}")
        wanted = world.keys.state.get(key)
        assert (status == 200) == bool(wanted), (key, status, wanted)
        if wanted:
            assert answer["document"]["text"] == wanted["text"], (key, answer, wanted)
            assert len(answer["document"]["links"]) == 1, answer
    check = must(router, "POST", f"{INDEXES}/papers/check")["check"]
    assert check["faults"] == [] and check["documents"] == len(documents), (check, len(documents))
    return len(documents), compared


class Verbs:
    def __init__(self, kindred, router, scratch):
        self.kindred, self.at = kindred, ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]

    def __call__(self, *words, code=0):
        done = subprocess.run([self.kindred, "shards", *words, *self.at], capture_output=True, text=True)
        assert done.returncode == code, (words, done)
        return done.stdout + done.stderr

    def until_moved(self, *words):
        """Runs a verb with --wait until every partition has moved: moves are undone on a machine that was too busy, and then
        the verb says so and can be repeated."""
        end = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run([self.kindred, "shards", *words, "--wait", *self.at], capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout
            assert "kindred: partition " in done.stderr, (words, done)
            assert time.monotonic() < end, (words, done)


def check_verbs(run, nodes, extra):
    """The verbs say what they would do, and what is wrong."""
    address = lambda node: f"127.0.0.1:{node.port}"
    plan = run("split", "papers", address(extra), "--dry-run")
    assert "nothing was begun" in plan and f"-> {address(extra)}" in plan, plan
    assert "is on shard" in run("move", "papers", "0", "--to", address(nodes[0]), code=1)
    assert "has no shard on node 10.1.1.1:1" in run("move", "papers", "0", "--to", "10.1.1.1:1", code=1)
    assert "has no partition 99" in run("move", "papers", "99", "--to", address(nodes[0]), code=1)
    assert "there is no index" in run("drain", "none", address(nodes[0]), code=1)
    assert "nothing to move" in run("balance", "papers", "--max-skew", "900")
    assert "one of partitions, --all" in run("abort", "papers", code=2)
    assert "0 moves to be undone" in run("abort", "papers", "--all")
    assert "was never moved" in run("abort", "papers", "0", code=1)
    assert "no partition has moved yet" in run("migrations", "papers")
    moved = run.until_moved("move", "papers", "0", "--to", address(nodes[3]))
    assert "1 partition moved" in moved, moved
    assert "done" in run("migrations", "papers")
    begun = json.loads(run("move", "papers", "0", "--to", address(nodes[0]), "--json"))
    assert begun["begun"] == 1, begun


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    seed = int(os.environ.get("KILL_SEED", "1"))
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        etcd, servers, workers, world = Etcd(scratch), [], [], None
        try:
            nodes = [Process(kindred, scratch / f"node{i}", ["node", *guarded]) for i in range(NODES + 1)]
            servers += nodes
            extra = nodes.pop()
            places = [word for node in nodes for word in ("--node", f"127.0.0.1:{node.port}")]
            arguments = ["router", *guarded, "--node-token-file", scratch / "token", "--meta", etcd.address(),
                         "--move-grace", "0.3", "--moves-at-once", "3", *places]
            routers = [Process(kindred, scratch / f"router{i}", arguments) for i in range(2)]
            servers += routers
            must(routers[0], "POST", INDEXES, {"name": "papers", "embed": "none", "partitions": PARTITIONS})
            world, moves = World(routers, seed), Moves(routers, draw)
            workers = [Worker(world.writer(i)) for i in range(WRITERS)]
            wait_until("documents are written", lambda: world.acknowledged > 2 * KEYS)
            run = Verbs(kindred, routers[0], scratch)
            check_verbs(run, nodes, extra)
            moves.settle()
            workers += [Worker(world.reader(i)) for i in range(2)]
            await_searches(world, "no moves", 10 * count)
            world.phase = "moves"
            moves.until(count // 4)
            world.phase = "split"
            moves.settle()
            split = run.until_moved("split", "papers", f"127.0.0.1:{extra.port}")
            moves.settle()
            shards = must(routers[1], "GET", f"{INDEXES}/papers")["index"]["shards"]
            assert len(shards) == NODES + 1 and shards[NODES]["partitions"] >= 1, (split, shards)
            world.phase = "kills"
            killing = Kills([*nodes, extra, *routers], moves, kills, max(1, (count - moves.done) / max(1, kills)), draw)
            moves.until(count, killing.step)
            wait_until("the last one is killed and back", killing.rest)
            moves.settle()
            wait_until("the router reaches all nodes", lambda: reaches_all(routers[0]))
            world.phase = "drain"
            first = f"127.0.0.1:{nodes[0].port}"
            drained = run.until_moved("drain", "papers", first)
            moves.settle()
            assert "moved" in drained or "nothing to move" in drained, drained
            for worker in workers:
                worker.stop()
            workers = []
            nodes[0].kill()  # nobody needs it any more
            kept, compared = check_answers(kindred, scratch, routers[0], world)
            emptied = must(routers[0], "GET", f"{INDEXES}/papers")["index"]["shards"][0]
            assert emptied["partitions"] == 0 and "problem" in emptied, emptied
            codes = [one.stop() for one in [*routers, *nodes[1:], extra]]
            assert codes == [0] * len(codes), codes
        finally:
            for worker in workers:
                worker.stopped = world.over = True
            for one in servers:
                one.process.kill()
            etcd.kill_all()
    print(f"moves hold: {moves.done} moves, {len(moves.failed)} undone, {kills} kills; {world.acknowledged} writes "
          f"({world.repeated} sent again), {world.checked} searches checked meanwhile; {kept} documents and {compared} hits as "
          "in one index")
    for phase, times in world.times.items():
        print(f"  searches, {phase}: {len(times)}, p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms")
    for reason in sorted(set(moves.failed)):
        print(f"  undone: {reason}")


if __name__ == "__main__":
    main()
