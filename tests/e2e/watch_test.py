"""Metrics, logs and statistics of a router and its nodes.

usage: watch_test.py KINDRED

A request's id is in the router's answer, in the router's log and in the logs of the nodes that it asked; metrics of both
sides count its calls; `kindred shards stats` and the API show what every shard and partition holds.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from nodes_test import TOKEN, Process, documents, must

NODES = 2


def get(port, path, token=TOKEN, request_id=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if request_id:
        headers["X-Request-Id"] = request_id
    connection.request("GET", path, None, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def lines_about(log, request_id):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert all({"time", "request", "ms"} <= set(line) for line in lines)
    return [line for line in lines if line["request"] == request_id]


def samples(text):
    """The metrics in Prometheus' text format, by name and labels."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, value = line.rsplit(" ", 1)
        found[name] = float(value)
    return found


def total(metrics, name, *parts):
    return sum(value for key, value in metrics.items() if key.startswith(name) and all(part in key for part in parts))


def check_ids(router, scratch):
    answer, _ = get(router.port, "/api/v1/indexes/papers/search?q=tide", request_id="from-outside.1")
    assert answer.status == 200 and answer.headers["X-Request-Id"] == "from-outside.1", answer.headers
    (asked,) = lines_about(scratch / "router.log", "from-outside.1")
    assert asked["path"] == "/api/v1/indexes/papers/search" and asked["status"] == 200, asked
    for i in range(NODES):
        calls = {line["call"] for line in lines_about(scratch / f"node{i}.log", "from-outside.1")}
        assert "find" in calls, (i, calls)
    refused, _ = get(router.port, "/api/v1/indexes", token=None)
    assert refused.status == 401 and lines_about(scratch / "router.log", refused.headers["X-Request-Id"])


def check_metrics(router, ports):
    answer, text = get(router.port, "/metrics")
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer.headers
    metrics = samples(text)
    assert total(metrics, "kindred_http_request_seconds_count", 'route="/api/v1/indexes/{name}/search"', 'status="200"') >= 1
    assert total(metrics, "kindred_index_partitions", 'index="papers"') == 8, metrics
    finds = total(metrics, "kindred_node_call_seconds_count", 'call="find"', 'outcome="ok"')
    assert finds >= NODES, metrics
    nodes = []
    for port in ports:
        assert get(port, "/metrics", token=None)[0].status == 401
        assert get(port, "/healthz", token=None)[0].status == 200
        nodes.append(samples(get(port, "/metrics")[1]))
    served = sum(total(node, "kindred_served_call_seconds_count", 'call="find"', 'index="papers"') for node in nodes)
    assert served == finds, (served, finds)
    assert sum(node['kindred_shard_entities{index="papers"}'] for node in nodes) == 300


def check_statistics(kindred, router, scratch):
    stats = must(router, "GET", "/api/v1/indexes/papers/shards")
    assert sum(shard["entities"] for shard in stats["shards"]) == 300, stats
    assert len(stats["partitions"]) == 8 and sum(one["entities"] for one in stats["partitions"]) == 300, stats
    at = ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]
    shown = subprocess.run([kindred, "shards", "stats", "papers", *at], capture_output=True, text=True, check=True).stdout
    assert "8 partitions, 38 entities on average" in shown and "ms of work a second on average" in shown, shown
    by_size_and_by_load = 2 * 8
    assert shown.count("127.0.0.1") == NODES + by_size_and_by_load, shown


def check_a_node_that_is_away(kindred, router, nodes, scratch):
    nodes[1].kill()
    stats = must(router, "GET", "/api/v1/indexes/papers/shards")
    assert "problem" in stats["shards"][1] and "problem" not in stats["shards"][0], stats
    assert any(one["entities"] is None for one in stats["partitions"]), stats
    at = ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]
    shown = subprocess.run([kindred, "shards", "stats", "papers", *at], capture_output=True, text=True, check=True).stdout
    assert shown.count("does not answer") == 1, shown
    assert total(samples(get(router.port, "/metrics")[1]), "kindred_node_call_seconds_count", 'outcome="unavailable"') >= 1
    nodes[1].start()


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        nodes = [Process(kindred, scratch / f"node{i}",
                         ["node", *guarded, "--metrics-port", "0", "--call-log", scratch / f"node{i}.log"]) for i in range(NODES)]
        places = [word for node in nodes for word in ("--node", f"127.0.0.1:{node.port}")]
        router = Process(kindred, scratch / "router", ["router", *guarded, "--node-token-file", scratch / "token",
                                                       "--log", scratch / "router.log", *places])
        try:
            ports = []
            for node in nodes:
                said = (node.folder / "stdout").read_text()  # before it wrote the file with its port
                ports.append(int(re.search(r"Metrics are at 127\.0\.0\.1:(\d+)/metrics", said)[1]))
            must(router, "POST", "/api/v1/indexes", {"name": "papers", "embed": "none", "partitions": 8})
            must(router, "POST", "/api/v1/indexes/papers/documents", {"documents": documents(300, seed=3)})
            check_ids(router, scratch)
            check_metrics(router, ports)
            check_statistics(kindred, router, scratch)
            check_a_node_that_is_away(kindred, router, nodes, scratch)
        finally:
            for one in [router, *nodes]:
                one.process.kill()
                one.process.wait()
    print("ids, metrics and statistics hold")


if __name__ == "__main__":
    main()
