#!/usr/bin/env python3
"""`kindred node` and `kindred router` as real processes: an index over four nodes answers as one local index does, what was
acknowledged survives kills of nodes and of the router, and callers without the right token are refused.

usage: nodes_test.py KINDRED [CYCLES]

CYCLES (default 3) is how often a node is killed while documents are added. KILL_SEED draws other moments.
"""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 120  # seconds that any event is waited for
NODES = 4
TOKEN = "0123456789abcdef0123456789abcdef"
WORDS = [a + b for a in ("ti", "sa", "wa", "sto", "ri", "li", "mo", "fe") for b in ("de", "nd", "ve", "ne", "ver", "ght")]


def documents(count, seed):
    """Documents whose words are as unevenly spread as those of texts are."""
    draw = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    made = []
    for number in range(count):
        words = draw.choices(WORDS, weights, k=draw.randint(5, 60))
        made.append({
            "id": f"doc-{number}",
            "title": " ".join(draw.choices(WORDS, weights, k=3)),
            "text": " ".join(words),
            "tags": draw.sample(["sea", "land", "sky", "city"], draw.randint(0, 2)),
            "source": draw.choice(["north", "south"]),
            "year": 1990 + draw.randint(0, 9),
        })
    return made


class Process:
    """A server of the binary. It listens at the same port when it is started again."""

    def __init__(self, kindred, folder, arguments):
        self.kindred, self.folder, self.arguments = kindred, pathlib.Path(folder), arguments
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port, self.process = 0, None
        self.start()

    def start(self):
        port_file = self.folder / "port"
        port_file.unlink(missing_ok=True)
        with open(self.folder / "stdout", "w") as stdout:
            self.process = subprocess.Popen(
                [self.kindred, *self.arguments, "--data", self.folder / "data", "--listen", f"127.0.0.1:{self.port}",
                 "--port-file", port_file], stdout=stdout, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + PATIENCE
        while not port_file.exists():
            if self.process.poll() is not None:
                raise SystemExit(f"{self.arguments[0]} ended: {self.process.stderr.read()}")
            assert time.monotonic() < end, f"{self.arguments[0]} does not listen"
            time.sleep(0.02)
        self.port = int(port_file.read_text())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE)


def ask(router, method, path, body=None, token=TOKEN):
    connection = http.client.HTTPConnection("127.0.0.1", router.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json"} if method != "GET" else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else {}


def must(router, method, path, body=None):
    status, answer = ask(router, method, path, body)
    assert status < 300, (method, path, status, answer)
    return answer


def summary(answer, question):
    """What must be the same. Documents of equal scores have no order: one index goes by their age, a router by their
    ids. Which of them are on a page is therefore open at its ends."""
    hits = [(hit["score"], hit["id"]) for hit in answer["hits"]]
    ends = {hits[-1][0]} if len(hits) == question["k"] else set()
    ends |= {hits[0][0]} if hits and question.get("offset") else set()
    inner = sorted(hit for hit in hits if hit[0] not in ends)
    return [score for score, _ in hits], inner, answer["count"], answer["facets"]


def queries():
    draw = random.Random(7)
    for word in WORDS[:12]:
        yield {"q": word}
    for _ in range(20):
        yield {"q": " ".join(draw.choices(WORDS, k=3))}
    for word in WORDS[:4]:
        yield {"q": f"+{word} -{WORDS[9]}"}
        yield {"q": f'"{word} {WORDS[0]}"'}
        yield {"q": word, "filter": {"tag": ["sea"]}}
        yield {"q": word, "filter": {"source": ["north"]}, "offset": 10}
        yield {"q": word[:3] + "*"}
    yield {"q": "tydes", "fuzzy": 1}
    yield {"q": "the"}


def check_same_answers(kindred, scratch, router, made):
    """Hits, scores, counts and facets over four nodes are those of one index."""
    local = scratch / "one" / "data"
    lines = scratch / "documents.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in made))
    run = lambda *words: subprocess.run([kindred, *words, "--data", local], check=True, capture_output=True, text=True)
    run("index", "create", "papers", "--embed", "none")
    run("index", "add", "papers", lines)
    server = Process(kindred, scratch / "one", ["serve", "--no-refresh"])  # the same API
    facets = ["tag", "source", "type", "attribute"]
    compared = 0
    for query in queries():
        question = {**query, "k": 20, "facets": facets}
        path = "/api/v1/indexes/papers/search"
        status, one = ask(server, "POST", path, question, token=None)
        assert status == 200, (question, one)
        many = must(router, "POST", path, question)
        expected, found = summary(one, question), summary(many, question)
        assert expected == found, f"{question}\n{expected}\n{found}"
        compared += len(expected[1])
    assert compared > 400, compared
    server.stop()


def check_command_line(kindred, scratch, router, made):
    """`--at` works on a router's indexes as on this machine's own."""
    lines = scratch / "few.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in made[:50]))
    at = ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]

    def run(*words, code=0):
        done = subprocess.run([kindred, *words], capture_output=True, text=True)
        assert done.returncode == code, (words, done)
        return done.stdout + done.stderr

    assert "created index few" in run("index", "create", "few", "--embed", "none", "--partitions", "8", *at)
    assert "there is an index" in run("index", "create", "few", "--embed", "none", *at, code=1)
    assert "50 documents added to few" in run("index", "add", "few", lines, *at)
    found = json.loads(run("search", "few", made[7]["title"], "--facet", "tag", "--json", *at))
    assert found["hits"] and found["facets"]["tag"], found
    assert found["hits"][0]["id"] in run("search", "few", made[7]["title"], "--k", "1", *at)
    table = run("shards", "list", "few", *at)
    assert table.startswith("few  8 partitions, epoch 1\n") and table.count("2 partitions  LSN") == NODES, table
    assert "papers" in run("shards", "list", *at)
    assert "token" in run("shards", "list", *at[:2], code=1)


class Adding:
    """Adds documents until it is stopped, and knows which are acknowledged."""

    def __init__(self, router):
        self.router, self.acknowledged, self.attempts, self.stopped = router, [], 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped:
            batch = [{"id": f"kept-{self.attempts}-{i}", "title": "kept", "text": f"number{self.attempts} tide"}
                     for i in range(20)]
            self.attempts += 1
            status, _ = ask(self.router, "POST", "/api/v1/indexes/papers/documents", {"documents": batch})
            if status == 200:
                self.acknowledged += [one["id"] for one in batch]

    def stop(self):
        self.stopped = True
        self.thread.join()


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def check_kills(router, nodes, cycles):
    """A killed node loses nothing that was acknowledged."""
    draw = random.Random(int(os.environ.get("KILL_SEED", "1")))
    adding = Adding(router)
    for _ in range(cycles):
        known = len(adding.acknowledged)
        wait_until("documents are acknowledged", lambda: len(adding.acknowledged) > known + draw.randint(0, 200))
        node = draw.choice(nodes)
        node.kill()
        node.start()
    known = len(adding.acknowledged)
    wait_until("documents are acknowledged again", lambda: len(adding.acknowledged) > known)
    adding.stop()
    check_kept(router, adding.acknowledged)
    return adding.acknowledged


def check_kept(router, ids):
    lost = [one for one in ids if ask(router, "GET", f"/api/v1/indexes/papers/document?id={one}")[0] != 200]
    assert not lost, f"{len(lost)} of {len(ids)} acknowledged documents are lost: {lost[:5]}"


def check_refusals(kindred, scratch, router, nodes):
    path = "/api/v1/indexes"
    assert ask(router, "GET", path, token=None)[0] == 401
    assert ask(router, "GET", path, token="f" * 32)[0] == 401
    assert ask(router, "POST", path, {"name": "papers", "embed": "none"})[0] == 409
    assert ask(router, "POST", path, {"name": "learnt", "embed": "corpus"})[0] == 409
    assert ask(router, "GET", f"{path}/other/search?q=tide")[0] == 404
    try:
        status, answer = ask(router, "POST", f"{path}/papers/documents", {"documents": [{"id": "x", "text": "y" * (17 << 20)}]})
        assert status == 413, (status, answer)
    except OSError:
        pass  # the router hung up before it had read the body
    for name, words in {"without": [], "wrong": ["--node-token-file", scratch / "wrong-token"]}.items():
        (scratch / "wrong-token").write_text("f" * 32)
        stranger = Process(kindred, scratch / name, ["router", *words, "--node", f"127.0.0.1:{nodes[0].port}"])
        status, answer = ask(stranger, "POST", path, {"name": "mine", "embed": "none"}, token=None)
        assert status >= 400 and "token" in json.dumps(answer), (status, answer)
        stranger.stop()
    other = subprocess.run([kindred, "node", "--data", scratch / "open", "--listen", "0.0.0.0:0"], capture_output=True, text=True)
    assert other.returncode == 2 and "a token and TLS are both needed" in other.stderr, other


def main():
    kindred = pathlib.Path(sys.argv[1]).resolve()
    cycles = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "token").write_text(TOKEN + "\n")
        guarded = ["--token-file", scratch / "token"]
        nodes = [Process(kindred, scratch / f"node{i}", ["node", *guarded]) for i in range(NODES)]
        places = [word for node in nodes for word in ("--node", f"127.0.0.1:{node.port}")]
        router = Process(kindred, scratch / "router", ["router", *guarded, "--node-token-file", scratch / "token", *places])
        try:
            must(router, "POST", "/api/v1/indexes", {"name": "papers", "embed": "none", "partitions": 64})
            made = documents(600, seed=1)
            for start in range(0, len(made), 100):
                must(router, "POST", "/api/v1/indexes/papers/documents", {"documents": made[start:start + 100]})
            check_same_answers(kindred, scratch, router, made)
            shards = must(router, "GET", "/api/v1/indexes/papers")["index"]["shards"]
            assert len(shards) == NODES and all(one["partitions"] == 16 and one["last_lsn"] > 0 for one in shards), shards
            check_command_line(kindred, scratch, router, made)
            check_refusals(kindred, scratch, router, nodes)
            kept = check_kills(router, nodes, cycles)
            router.kill()
            router.start()
            check_kept(router, kept[:200] + [one["id"] for one in made[:50]])
            assert ask(router, "DELETE", "/api/v1/indexes/papers/document?id=doc-0")[0] == 204
            assert ask(router, "GET", "/api/v1/indexes/papers/document?id=doc-0")[0] == 404
            codes = [one.stop() for one in [router, *nodes]]
            assert codes == [0] * len(codes), codes
        finally:
            for one in [router, *nodes]:
                one.process.kill()
    print(f"nodes hold: {len(kept)} documents kept over {cycles} kills")


if __name__ == "__main__":
    main()
