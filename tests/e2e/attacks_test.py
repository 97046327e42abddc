#!/usr/bin/env python3
"""What strangers, other tenants and mixed-up machines try on `kindred node` and `kindred router`, as real processes: each is
refused in words that say why, and the service goes on with everything it had.

usage: attacks_test.py KINDRED
"""
import hashlib
import json
import pathlib
import random
import socket
import subprocess
import sys
import tempfile

from nodes_test import TOKEN, Process, ask, must, wait_until

INDEXES = "/api/v1/indexes"
TENANTS = {"red": "a-long-token-of-red-people", "blue": "a-long-token-of-blue-people"}
DOCUMENTS = [{"id": f"doc-{i}", "text": f"tide number{i}"} for i in range(60)]


def kept(router):
    """How many of the documents the index has, or the reason why nobody knows."""
    status, answer = ask(router, "GET", f"{INDEXES}/papers/search?q=tide&k=100", token=TENANTS["red"])
    return answer["count"] if status == 200 else answer["error"]["message"]


def check_strangers(router, nodes, kindred, scratch):
    for token in (None, "f" * 32, TENANTS["red"][:-1], TENANTS["red"] + "x", ""):
        for method, path, body in (("GET", INDEXES, None), ("POST", INDEXES, {"name": "mine", "embed": "none"}),
                                   ("GET", f"{INDEXES}/papers/search?q=tide", None)):
            assert ask(router, method, path, body, token)[0] == 401, (token, path)
    # A router that does not know the nodes' token gets nothing from them.
    for name, words in {"bare": [], "tenant": ["--node-token-file", scratch / "red"]}.items():
        (scratch / "red").write_text(TENANTS["red"])
        stranger = Process(kindred, scratch / name, ["router", *words, "--node", f"127.0.0.1:{nodes[0].port}"])
        status, answer = ask(stranger, "POST", INDEXES, {"name": "red.papers", "embed": "none"}, token=None)
        assert status == 400, answer  # not even the name of another tenant's index
        status, answer = ask(stranger, "POST", INDEXES, {"name": "papers", "embed": "none"}, token=None)
        assert status >= 400 and "token" in json.dumps(answer), (status, answer)
        stranger.stop()


def check_other_tenant(router):
    blue = TENANTS["blue"]
    for name in ("papers", "red.papers", "red%2epapers", "..%2fred.papers"):
        for method, below in (("GET", "/search?q=tide"), ("GET", "/document?id=doc-1"), ("DELETE", "/document?id=doc-1"),
                              ("GET", "")):
            status, answer = ask(router, method, f"{INDEXES}/{name}{below}", token=blue)
            assert status in (400, 404), (name, below, status, answer)
    assert ask(router, "GET", INDEXES, token=blue) == (200, {"indexes": []})
    status, answer = ask(router, "POST", INDEXES, {"name": "x", "embed": "none", "tenant": "red"}, token=blue)
    assert status == 400 and "tenant" in answer["error"]["message"], answer


def send(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        try:
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            link.settimeout(0.05)
            while link.recv(65536):
                pass
        except OSError:
            pass  # it hung up, or is silent


def check_malformed(router, nodes):
    draw = random.Random(1)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
    for port in [router.port, *(node.port for node in nodes)]:
        for number in range(60):
            data = draw.randbytes(draw.randint(1, 3000))
            send(port, preface + data if number % 2 else data)
    head = f"POST {INDEXES} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TENANTS['red']}\r\n" \
           "Content-Type: application/json\r\n"
    for lie in ("Content-Length: 99999999999999999999\r\n", "Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n",
                "Content-Length: 5\r\nContent-Length: 6\r\n", "X: " + "y" * 100_000 + "\r\n"):
        send(router.port, (head + lie + "\r\nzzzz").encode())
    for body in ('{"documents": [', '{"documents": 7}', "[" * 100_000, '{"documents": [{"title": "no id"}]}', '"\\ud800"'):
        connection = ask_raw(router, body)
        assert connection in (400, 413), (body[:20], connection)


def ask_raw(router, body):
    with socket.create_connection(("127.0.0.1", router.port), timeout=60) as link:
        link.sendall((f"POST {INDEXES}/papers/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      f"Authorization: Bearer {TENANTS['red']}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
        return int(link.makefile("rb").readline().split()[1])


def check_oversized(router):
    try:
        status, _ = ask(router, "POST", f"{INDEXES}/papers/documents",
                        {"documents": [{"id": "big", "text": "y" * (17 << 20)}]}, token=TENANTS["red"])
        assert status == 413, status
    except OSError:
        pass  # the router hung up before it had read the body
    assert ask(router, "GET", f"{INDEXES}/papers/document?id=big", token=TENANTS["red"])[0] == 404


def restart_at(node, port, folder):
    node.port = port
    node.folder = folder
    node.start()


def check_mixed_up_nodes(router, nodes):
    """Two nodes that changed addresses are both refused, and lose nothing."""
    ports, folders = [node.port for node in nodes], [node.folder for node in nodes]
    for node in nodes:
        node.kill()
    for node, port, folder in zip(nodes, reversed(ports), folders):
        restart_at(node, port, folder)
    wait_until("the mix-up is named", lambda: "another shard than the one in the map" in str(kept(router)))
    status, answer = ask(router, "POST", f"{INDEXES}/papers/documents", {"documents": DOCUMENTS}, token=TENANTS["red"])
    assert status >= 400 and "another shard" in json.dumps(answer), (status, answer)
    for node in nodes:
        node.kill()
    for node, port, folder in zip(nodes, ports, folders):
        restart_at(node, port, folder)
    wait_until("all documents are found again", lambda: kept(router) == len(DOCUMENTS))


def check_empty_node(kindred, scratch, router, nodes, guarded):
    """A node without data at the address of another is not filled in silence."""
    nodes[0].kill()
    empty = Process.__new__(Process)
    empty.kindred, empty.folder, empty.arguments = kindred, scratch / "empty", ["node", *guarded]
    empty.folder.mkdir()
    empty.port, empty.process = nodes[0].port, None
    empty.start()
    wait_until("the empty node is named", lambda: "has no shard" in str(kept(router)))
    status, answer = ask(router, "POST", f"{INDEXES}/papers/documents", {"documents": DOCUMENTS}, token=TENANTS["red"])
    assert status >= 400 and "has no shard" in json.dumps(answer), (status, answer)
    # Nor by somebody who makes the index there: it has another identity.
    stranger = Process(kindred, scratch / "maker", ["router", "--node-token-file", scratch / "token",
                                                     "--tenants", scratch / "tenants.jsonl",
                                                     "--node", f"127.0.0.1:{empty.port}"])
    made = ask(stranger, "POST", INDEXES, {"name": "papers", "embed": "none", "partitions": 8}, token=TENANTS["red"])
    assert made[0] == 201, made
    wait_until("the impostor is named", lambda: "another shard than the one in the map" in str(kept(router)))
    stranger.stop()
    empty.kill()
    nodes[0].start()
    wait_until("all documents are found again", lambda: kept(router) == len(DOCUMENTS))


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        (scratch / "tenants.jsonl").write_text("".join(json.dumps(
            {"tenant": name, "token_sha256": hashlib.sha256(token.encode()).hexdigest()}) + "\n"
            for name, token in TENANTS.items()))
        guarded = ["--token-file", scratch / "token"]
        servers = []
        try:
            nodes = [Process(kindred, scratch / f"node{i}", ["node", *guarded]) for i in range(2)]
            servers += nodes
            places = [word for node in nodes for word in ("--node", f"127.0.0.1:{node.port}")]
            router = Process(kindred, scratch / "router", ["router", *guarded, "--node-token-file", scratch / "token",
                                                           "--tenants", scratch / "tenants.jsonl", *places])
            servers.append(router)
            status, answer = ask(router, "POST", INDEXES, {"name": "papers", "embed": "none", "partitions": 8},
                                 token=TENANTS["red"])
            assert status == 201, answer
            status, answer = ask(router, "POST", f"{INDEXES}/papers/documents", {"documents": DOCUMENTS},
                                 token=TENANTS["red"])
            assert status == 200, answer
            check_strangers(router, nodes, kindred, scratch)
            check_other_tenant(router)
            check_malformed(router, nodes)
            check_oversized(router)
            assert kept(router) == len(DOCUMENTS), kept(router)
            check_mixed_up_nodes(router, nodes)
            check_empty_node(kindred, scratch, router, nodes, guarded)
            must(router, "GET", INDEXES)  # the operator
            bad = subprocess.run([kindred, "router", "--data", scratch / "x", "--tenants", scratch / "token"],
                                 capture_output=True, text=True)
            assert bad.returncode == 2 and "line 1" in bad.stderr, bad
            codes = [one.stop() for one in [router, *nodes]]
            assert codes == [0] * len(codes), codes
        finally:
            for one in servers:
                one.process.kill()
    print("attacks are refused")


if __name__ == "__main__":
    main()
