#!/usr/bin/env python3
"""Nodes that own shards are killed or stopped for a while, and others take their shards over: two routers over etcd, four nodes
with a log in S3 and one follower for each shard, while documents are written, changed, deleted and searched. Nothing
acknowledged is lost, nothing deleted is back, nothing is found twice, and the answers at the end are those of one local index.
Meanwhile followers answer searches, from states that are as old as the answers say. How long writes and searches wait is printed.

usage: failover_test.py KINDRED [FAILOVERS [folder]]

FAILOVERS (default 2) is how often a node that owns shards goes. Every third one is stopped (SIGSTOP) until others have taken
over, and goes on; the others are killed. A node that was killed is sometimes back before its lease ends: then nobody takes over.
With "folder" the log is in a folder. KILL_SEED draws other moments. s3rver shows an object while it is written, as S3 does not, so
an owner that is stopped in the middle of one can hold the take-over up until the server gives the request up.
"""
import importlib.util
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from buckets import BUCKET, Server
from moves_test import PARTITIONS, Verbs, Worker, World, await_searches, check_answers, percentile, try_ask
from nodes_test import PATIENCE, TOKEN, Process, ask, must, wait_until
from routers_test import Etcd, free_ports
from watch_test import get, samples

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INDEXES = "/api/v1/indexes"
NODES = 4
WRITERS = 3
PROBES = 64  # documents of a write that needs every shard


class Node(Process):
    """A node at a port that it has before it starts."""

    def __init__(self, kindred, folder, arguments, port, environment):
        self.kindred, self.folder, self.arguments = kindred, folder, arguments
        self.port, self.process, self.environment = port, None, environment
        self.folder.mkdir(parents=True)
        self.start()

    def start(self):
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        with open(self.folder / "stdout", "w") as out, open(self.folder / "stderr", "a") as problems:
            self.process = subprocess.Popen(
                [self.kindred, *self.arguments, "--data", self.folder / "data", "--listen", f"127.0.0.1:{self.port}",
                 "--metrics-port", "0", "--port-file", port_file], stdout=out, stderr=problems, env=self.environment)
        wait_until("a node listens", lambda: self.process.poll() is not None or port_file.exists())
        assert self.process.poll() is None, (self.folder / "stderr").read_text()
        said = (self.folder / "stdout").read_text()
        self.metrics_port = int(re.search(r"Metrics are at 127\.0\.0\.1:(\d+)/metrics", said)[1])

    def metrics(self):
        return samples(get(self.metrics_port, "/metrics")[1])

    def address(self):
        return f"127.0.0.1:{self.port}"


def count(metrics, name, *parts):
    return sum(1 for key, value in metrics.items()
               if key.startswith(name + "{") and value == 1 and all(part in key for part in parts))


def total(nodes, name):
    return sum(value for node in nodes for key, value in node.metrics().items() if key.startswith(name + "{"))


def is_whole(nodes):
    """Every shard has an owner that answers, and a follower that is not far behind."""
    owners = following = 0
    for node in nodes:
        metrics = node.metrics()
        owners += count(metrics, "kindred_copy_owner")
        following += sum(1 for key, lag in metrics.items() if key.startswith("kindred_copy_lag_seconds{") and lag < 5)
    return owners == NODES and following == NODES


class Searches:
    """Searches that need every shard, one after another at each router, and how long the longest waits for an answer."""

    def __init__(self, routers):
        self.longest, self.answered, self.old, self.oldest = 0, 0, 0, 0
        self.workers = [Worker(self.searcher(router)) for router in routers]

    def searcher(self, router):
        def once():
            begun = time.monotonic()
            while True:
                status, answer = try_ask(router, "GET", f"{INDEXES}/papers/search?q=probe&k=5")
                if status == 200:
                    break
                assert status == 0 or status >= 500, (status, answer)
                assert time.monotonic() < begun + PATIENCE, (status, answer)
            self.longest = max(self.longest, time.monotonic() - begun)
            self.answered += 1
            if "behind_seconds" in answer:
                self.old += 1
                self.oldest = max(self.oldest, answer["behind_seconds"])
            time.sleep(0.02)

        return once

    def stop(self):
        for worker in self.workers:
            worker.stop()


class Failovers:
    def __init__(self, world, routers, nodes, draw):
        self.world, self.routers, self.nodes, self.draw = world, routers, nodes, draw
        self.seconds, self.restarted, self.done, self.probes = [], [], 0, 0
        self.waits, self.searches, self.old, self.oldest = [], 0, 0, 0  # of searches meanwhile

    def owners(self):
        """The nodes that own shards, by the map."""
        shards = must(self.routers[0], "GET", f"{INDEXES}/papers")["index"]["shards"]
        addresses = {shard["address"] for shard in shards}
        return [node for node in self.nodes if node.address() in addresses]

    def write_everywhere(self, begun):
        """Returns how long after `begun` a write that needs all shards is acknowledged."""
        self.probes += 1
        documents = [{"id": f"probe-{i}", "title": "probe", "text": f"probe {self.probes} number{i}"}
                     for i in range(PROBES)]
        end = time.monotonic() + PATIENCE
        while True:
            status, answer = try_ask(self.draw.choice(self.routers), "POST", f"{INDEXES}/papers/documents",
                                     {"documents": documents})
            if 0 < status < 300:
                break
            assert status == 0 or status >= 500, (status, answer)
            assert time.monotonic() < end, (status, answer)
        for one in documents:
            self.world.keys.begin(one["id"])
            self.world.keys.end(one["id"], one)
        return time.monotonic() - begun

    def go(self, number):
        wait_until("every shard has an owner and a follower", lambda: is_whole(self.nodes))
        time.sleep(self.draw.uniform(0, 1))
        node = self.draw.choice(self.owners())
        stops = number % 3 == 1
        back_soon = not stops and number % 5 == 4
        searches = Searches(self.routers)
        begun = time.monotonic()
        if stops:
            node.process.send_signal(signal.SIGSTOP)
        else:
            node.kill()
        if back_soon:
            node.start()
        taken = self.write_everywhere(begun)
        searches.stop()
        if stops:
            node.process.send_signal(signal.SIGCONT)
        elif not back_soon:
            node.start()
        print(f"  {number}: a node is {'stopped' if stops else 'back at once' if back_soon else 'killed'}, writes go on after "
              f"{taken:.1f} s; a search waits {searches.longest:.2f} s at most, {searches.old} of {searches.answered} are answered by "
              f"followers", flush=True)
        self.searches += searches.answered
        self.old += searches.old
        self.oldest = max(self.oldest, searches.oldest)
        if not back_soon:
            self.waits.append(searches.longest)
        (self.restarted if back_soon else self.seconds).append(taken)
        self.done += 0 if back_soon else 1

    def run(self, wanted):
        number = 0
        while self.done < wanted:
            self.go(number)
            number += 1
        wait_until("every shard has an owner and a follower", lambda: is_whole(self.nodes))


def check_alerts(nodes, routers):
    """The metrics of docs/alerts.yml are those of nodes and routers."""
    spec = importlib.util.spec_from_file_location("check_alerts", ROOT / "tools/check_alerts.py")
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    exposed = set()
    for metrics in [*(node.metrics() for node in nodes), *(samples(get(router.port, "/metrics")[1]) for router in routers)]:
        exposed.update(re.sub("_(count|bucket|sum)$", "", name.split("{")[0]) for name in metrics)
    faults = list(checker.faults_of(checker.expressions(ROOT), exposed))
    assert faults == [], faults


def check_usage(kindred, scratch):
    node = ["node", "--data", scratch / "none", "--listen", "127.0.0.1:7999"]
    router = ["router", "--listen", "127.0.0.1:0", "--node", "127.0.0.1:1", "--followers", "1"]
    for words, said in (([*node, "--meta", "etcd://127.0.0.1:1"], "--meta needs --log"),
                        (["node", "--data", scratch / "none", "--listen", "127.0.0.1:0", "--log", scratch / "x", "--meta",
                          "etcd://127.0.0.1:1"], "--meta needs --address"),
                        ([*node, "--log", scratch / "x", "--meta", "zookeeper://x"], "does not start with etcd://"),
                        ([*node, "--log", scratch / "x", "--meta", "etcd://127.0.0.1:1", "--api", "127.0.0.1:0"], "--api serves"),
                        ([*router, "--data", scratch / "none"], "followers need --meta"),
                        ([*router, "--meta", "etcd://127.0.0.1:1"], "need 2 nodes")):
        done = subprocess.run([kindred, *words], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 2 and said in done.stderr, (words, done.returncode, done.stderr)


def check_verb(kindred, router, nodes, scratch):
    """`kindred shards followers` takes copies away and gives them back."""
    run = Verbs(kindred, router, scratch)
    assert "9 followers of a shard need" in run("followers", "papers", "9", code=1)
    assert "there is no index" in run("followers", "none", "1", code=1)
    assert "no shard has copies" in run("followers", "papers", "0")
    wait_until("there are owners only", lambda: sum(count(node.metrics(), "kindred_copy_role") for node in nodes) == NODES)
    said = run("followers", "papers", "1")
    assert said.count("is copied to") == NODES, said
    wait_until("every shard has an owner and a follower", lambda: is_whole(nodes))


def check_dropped(router, nodes, server):
    """Copies, leases and logs of an index go with it, also if the node of a shard is away: a follower takes over and drops it.
    What the node finds when it is back is of no use for another index of the name."""
    nodes[0].kill()
    wait_until("the index is dropped", lambda: ask(router, "DELETE", f"{INDEXES}/papers")[0] < 300)
    wait_until("no node has a copy", lambda: all(not any(key.startswith("kindred_copy") for key in node.metrics())
                                                 for node in nodes[1:]))
    left = server.list("kindred/papers/") + server.list("kindred/shards/papers/") if server else []
    assert left == [], left[:5]
    wait_until("the folders of copies are removed",
               lambda: not any(any((node.folder / "data" / ".copies").glob("papers/*")) for node in nodes[1:]))
    nodes[0].start()
    # The router tries to reach a node that was away once a second.
    wait_until("the index is made again", lambda: ask(router, "POST", INDEXES, {"name": "papers", "embed": "none",
                                                                                "partitions": PARTITIONS})[0] < 300)
    assert must(router, "GET", f"{INDEXES}/papers/search?q=*")["count"] == 0


def run(kindred, scratch, server, log, etcd, wanted, seed, servers, worlds, workers):
    (scratch / "token").write_text(TOKEN + "\n")
    guarded = ["--token-file", scratch / "token"]
    arguments = ["node", *guarded, "--log", log, "--ack", "durable", "--meta", etcd.address()]
    nodes = []
    for i, port in enumerate(free_ports(NODES)):
        nodes.append(Node(kindred, scratch / f"node{i}", arguments, port, server.environment()))
        servers.append(nodes[-1])
    places = [word for node in nodes for word in ("--node", node.address())]
    routers = []
    for i in range(2):
        routers.append(Process(kindred, scratch / f"router{i}",
                               ["router", *guarded, "--node-token-file", scratch / "token", "--meta", etcd.address(),
                                "--followers", "1", *places]))
        servers.append(routers[-1])
    must(routers[0], "POST", INDEXES, {"name": "papers", "embed": "none", "partitions": PARTITIONS})
    draw = random.Random(seed)
    world = World(routers, seed)
    worlds.append(world)
    workers += [Worker(world.writer(i)) for i in range(WRITERS)]
    wait_until("documents are written", lambda: world.acknowledged > 100)
    workers += [Worker(world.reader(i)) for i in range(2)]
    await_searches(world, "calm", 20)
    world.phase = "fail-overs"
    failovers = Failovers(world, routers, nodes, draw)
    failovers.run(wanted)
    for worker in workers:
        worker.stop()
    workers.clear()
    taken_over = total(nodes, "kindred_copy_take_overs")
    kept, compared = check_answers(kindred, scratch, routers[0], world)
    check_alerts(nodes, routers)
    check_verb(kindred, routers[0], nodes, scratch)
    check_dropped(routers[1], nodes, server if str(log).startswith("s3://") else None)
    codes = [one.stop() for one in [*routers, *nodes]]
    assert codes == [0] * len(codes), codes
    return world, failovers, taken_over, kept, compared


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    seed = int(os.environ.get("KILL_SEED", "1"))
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        scratch = pathlib.Path(folder)
        log = scratch / "log" if "folder" in sys.argv[3:] else f"s3://{BUCKET}/kindred"
        check_usage(kindred, scratch)
        etcd, servers, worlds, workers = Etcd(scratch), [], [], []
        try:
            world, failovers, taken_over, kept, compared = run(kindred, scratch, server, log, etcd, wanted, seed,
                                                                 servers, worlds, workers)
        except BaseException:
            for one in servers:
                if isinstance(one, Node):
                    print(one.folder.name, (one.folder / "stderr").read_text()[-3000:], file=sys.stderr)
            raise
        finally:
            for world in worlds:
                world.over = True
            for worker in workers:
                worker.stopped = True
            for one in servers:
                one.process.kill()
            etcd.kill_all()
    print(f"fail-over holds: {failovers.done} nodes lost and {len(failovers.restarted)} back at once; {world.acknowledged} writes "
          f"({world.repeated} sent again), {world.checked} searches checked meanwhile; {kept} documents and {compared} hits as in "
          "one index")
    for what, times in (("lost", failovers.seconds), ("back at once", failovers.restarted)):
        if times:
            print(f"  seconds until all shards take writes, node {what}: {len(times)}, p50 {percentile(times, 0.5) / 1000:.1f}, "
                  f"most {max(times):.1f}")
    print(f"  seconds that a search waits at most, node lost: {len(failovers.waits)}, p50 "
          f"{percentile(failovers.waits, 0.5) / 1000:.2f}, most {max(failovers.waits):.2f}; followers answer {failovers.old} of "
          f"{failovers.searches} searches, from states that are {failovers.oldest:.2f} s old at most; {world.old} more are compared with "
          "what was written")
    print(f"  {taken_over:.0f} shards taken over by the nodes that run at the end")


if __name__ == "__main__":
    main()
