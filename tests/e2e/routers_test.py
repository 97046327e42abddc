#!/usr/bin/env python3
"""Two `kindred router` over one etcd of three members and three nodes, as real processes: both serve the same indexes, and
what they acknowledged stays while routers and members of etcd are killed under load.

usage: routers_test.py KINDRED [CYCLES]

CYCLES (default 2) is how often a router is killed while documents are added. KILL_SEED draws other moments.
"""
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading

from nodes_test import TOKEN, Adding, Process, Restarts, ask, check_kept, must, wait_until

MEMBERS = 3
NODES = 3
INDEXES = "/api/v1/indexes"


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Etcd:
    """An etcd of several members on loopback ports."""

    def __init__(self, folder):
        ports = free_ports(2 * MEMBERS)
        self.clients, peers = ports[:MEMBERS], ports[MEMBERS:]
        url = "http://127.0.0.1:{}".format
        everybody = ",".join(f"m{i}={url(port)}" for i, port in enumerate(peers))
        self.commands = [
            ["etcd", "--name", f"m{i}", "--data-dir", folder / f"m{i}", "--listen-client-urls", url(self.clients[i]),
             "--advertise-client-urls", url(self.clients[i]), "--listen-peer-urls", url(peers[i]),
             "--initial-advertise-peer-urls", url(peers[i]), "--initial-cluster", everybody, "--logger", "zap",
             "--log-level", "fatal"] for i in range(MEMBERS)]
        self.processes = [None] * MEMBERS
        self.start()
        wait_until("etcd has a leader", lambda: subprocess.run(
            ["etcdctl", f"--endpoints={url(self.clients[0])}", "get", "x"], env={**os.environ, "ETCDCTL_API": "3"},
            capture_output=True).returncode == 0)

    def address(self):
        return "etcd://" + ",".join(f"127.0.0.1:{port}" for port in self.clients) + "/test"

    def start(self):
        for i, command in enumerate(self.commands):
            if self.processes[i] is None:
                self.processes[i] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, member):
        self.processes[member].kill()
        self.processes[member].wait()
        self.processes[member] = None

    def kill_all(self):
        for member, process in enumerate(self.processes):
            if process is not None:
                self.kill(member)


def check_one_set_of_indexes(routers):
    one, other = routers
    must(one, "POST", INDEXES, {"name": "papers", "embed": "none", "partitions": 16})
    assert ask(other, "POST", INDEXES, {"name": "papers", "embed": "none"})[0] == 409
    must(other, "POST", f"{INDEXES}/papers/documents", {"documents": [{"id": "first", "text": "an ebbing tide"}]})
    assert must(one, "GET", f"{INDEXES}/papers/search?q=ebbing")["count"] == 1
    names = [[index["name"] for index in must(router, "GET", INDEXES)["indexes"]] for router in routers]
    assert names == [["papers"], ["papers"]], names


def check_one_maker(routers):
    """Routers that make an index of one name with different settings at once: one wins, or none, and the name stays
    usable."""
    outcomes = {}

    def make(which, router, body):
        outcomes[which] = ask(router, "POST", INDEXES, body)

    bodies = [{"name": "race", "embed": "none", "partitions": 4}, {"name": "race", "dim": 4, "partitions": 8}]
    threads = [threading.Thread(target=make, args=(i, routers[i], bodies[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [status == 201 for status, _ in outcomes.values()]
    assert sum(made) <= 1, outcomes
    if not any(made):
        must(routers[0], "POST", INDEXES, bodies[0])
    seen = [must(router, "GET", f"{INDEXES}/race")["index"]["partitions"] for router in routers]
    assert seen[0] == seen[1], seen
    for router in routers:
        must(router, "POST", f"{INDEXES}/race/documents", {"documents": [{"id": "x", "text": "tide"}]})


def check_without_etcd(kindred, scratch, etcd, routers, loads, arguments):
    """Serving goes on with the last maps; what needs etcd says so."""
    etcd.kill_all()
    for load in loads:
        load.await_more(30)
    for router in routers:
        assert must(router, "GET", f"{INDEXES}/papers/search?q=ebbing")["count"] == 1
        assert ask(router, "DELETE", f"{INDEXES}/papers/document?id=absent")[0] == 404
        listed = [index["name"] for index in must(router, "GET", INDEXES)["indexes"]]
        assert {"papers", "race", "spare"} <= set(listed), listed
        # Made by one router while etcd was there, and first used by the other while it is away.
        must(router, "GET", f"{INDEXES}/spare/search?q=tide")
        status, answer = ask(router, "POST", INDEXES, {"name": "late", "embed": "none"})
        assert status >= 500 and "etcd" in answer["error"]["message"], (status, answer)
    late = subprocess.run([kindred, *arguments, "--listen", "127.0.0.1:0"], capture_output=True, text=True)
    assert late.returncode == 1 and "etcd" in late.stderr and "maps" in late.stderr, late
    etcd.start()
    for i, router in enumerate(routers):
        wait_until("indexes can be made again", lambda: ask(
            router, "POST", INDEXES, {"name": f"late{i}", "embed": "none", "partitions": 4})[0] in (201, 409))
    for router in routers:
        assert {"late0", "late1"} <= {index["name"] for index in must(router, "GET", INDEXES)["indexes"]}


def check_usage(kindred, scratch):
    for words, text in [([], "--data or --meta"), (["--meta", "http://x"], "etcd://"),
                        (["--data", scratch / "d", "--meta-ca", "x"], "need --meta")]:
        done = subprocess.run([kindred, "router", *words], capture_output=True, text=True)
        assert done.returncode == 2 and text in done.stderr, done


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    cycles = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    draw = random.Random(int(os.environ.get("KILL_SEED", "1")))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_usage(kindred, scratch)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        etcd = Etcd(scratch)
        servers = []
        try:
            for i in range(NODES):
                servers.append(Process(kindred, scratch / f"node{i}", ["node", *guarded]))
            places = [word for node in servers for word in ("--node", f"127.0.0.1:{node.port}")]
            arguments = ["router", *guarded, "--node-token-file", scratch / "token", "--meta", etcd.address(), *places]
            routers = [Process(kindred, scratch / f"router{i}", arguments) for i in range(2)]
            servers += routers
            check_one_set_of_indexes(routers)
            check_one_maker(routers)
            must(routers[0], "POST", INDEXES, {"name": "spare", "embed": "none", "partitions": 4})
            routers[1].kill()  # and has all maps when it is back, but has used none of them
            routers[1].start()
            loads = [Adding(router, f"by{i}") for i, router in enumerate(routers)]
            restarts = Restarts()
            try:
                for cycle in range(cycles):
                    loads[0].await_more(draw.randint(1, 100))
                    member = draw.randrange(MEMBERS)
                    etcd.kill(member)
                    name = f"made{cycle}"  # two members of etcd are enough
                    wait_until("an index is made", lambda: ask(
                        routers[1], "POST", INDEXES, {"name": name, "embed": "none", "partitions": 4})[0] in (201, 409))
                    victim = draw.choice(routers)
                    restarts.kill(victim, victim)
                    for load in loads:
                        load.await_more()
                    etcd.start()
                check_without_etcd(kindred, scratch, etcd, routers, loads, arguments)
                routers[1].kill()
                loads[0].await_more(20)
            finally:
                for load in loads:
                    load.stop()
            kept = [one for load in [*loads, restarts] for one in load.acknowledged]
            check_kept(routers[0], kept)
            codes = [one.stop() for one in [routers[0], *servers[:NODES]]]
            assert codes == [0] * len(codes), codes
        finally:
            for one in servers:
                one.process.kill()
            etcd.kill_all()
    print(f"routers hold: {len(kept)} documents kept over {cycles} kills of routers, members of etcd and all of etcd; "
          f"{restarts.told()}")


if __name__ == "__main__":
    main()
