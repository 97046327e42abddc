#!/usr/bin/env python3
"""`kindred node` and `kindred router` as real processes: an index over four nodes answers as one local index does, what was
acknowledged survives kills of nodes and of the router, and callers without the right token are refused.

usage: nodes_test.py KINDRED [CYCLES]

CYCLES (default 3) is how often a node or the router is killed while documents are added. KILL_SEED draws other moments.
"""
import http.client
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = 600  # seconds that any event is waited for
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
            "links": [{"to": f"doc-{draw.randrange(count)}", "name": draw.choice(["cites", "near"]), "weight": 0.5}
                      for _ in range(draw.randint(0, 3))],
        })
        if number % 5 == 4:  # the same texts score the same
            made[-1].update({key: made[-3][key] for key in ("title", "text")})
        if number % 7 == 0:
            made[-1]["fragments"] = [{"time": "2001-02-03", "text": " ".join(words[:4])}]
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
        with open(self.folder / "stdout", "w") as stdout, open(self.folder / "stderr", "w") as stderr:
            self.process = subprocess.Popen(
                [self.kindred, *self.arguments, "--data", self.folder / "data", "--listen", f"127.0.0.1:{self.port}",
                 "--port-file", port_file], stdout=stdout, stderr=stderr, text=True)
        end = time.monotonic() + PATIENCE
        while not port_file.exists():
            if self.process.poll() is not None:
                raise SystemExit(f"{self.arguments[0]} ended: {(self.folder / 'stderr').read_text()}")
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


def comparable(answer):
    """Everything but the time that it took."""
    return {key: value for key, value in answer.items() if key != "milliseconds"}


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
    yield {"q": "*"}
    yield {"q": "*", "offset": 40}
    yield {"q": "", "filter": {"tag": ["sky"]}}
    for word in WORDS[:6]:
        yield {"q": word, "expand": 1}
        yield {"q": word, "expand": 2, "direction": "out", "edges": ["cites"], "filter": {"tag": ["sea"]}}
    for number in range(0, 60, 5):
        yield {"mode": "graph", "from": [f"doc-{number}"], "expand": 2}
    yield from pipelines()


def pipelines():
    for word, other in zip(WORDS[:8], WORDS[8:16]):
        yield {"pipeline": [{"find": "text", "q": word, "k": 50}, {"find": "text", "q": other, "keep": 0.4, "k": 30}, {"limit": 10}]}
        yield {"pipeline": [{"find": "text", "q": word, "k": 10}, {"expand": 1}, {"filter": {"tag": ["sea"]}}, {"limit": 15}]}
        yield {"pipeline": [{"find": "text", "q": word, "k": 40}, {"filter": {"source": ["north"]}}, {"expand": 2, "direction": "out"}]}
    yield {"pipeline": [{"find": "graph", "from": ["doc-3"], "hops": 2, "k": 30}, {"find": "text", "q": WORDS[0]}]}
    yield {"pipeline": [{"find": "text", "q": "nothinglikeit"}, {"expand": 1}, {"filter": {"tag": ["sea"]}}]}


def check_same_answers(kindred, scratch, router, made):
    """Whole answers over four nodes are those of one index, and so are documents with their links. Returns the documents
    as exported."""
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
        question = {**query, "k": 20, "facets": facets, "explain": True}
        path = "/api/v1/indexes/papers/search"
        status, one = ask(server, "POST", path, question, token=None)
        assert status == 200, (question, one)
        many = must(router, "POST", path, question)
        assert comparable(one) == comparable(many), f"{question}\n{one}\n{many}"
        compared += len(one["hits"])
    assert compared > 800, compared
    for number in range(0, len(made), 17):
        path = f"/api/v1/indexes/papers/document?id=doc-{number}"
        assert ask(server, "GET", path, token=None) == ask(router, "GET", path), path
        path = f"/api/v1/indexes/papers/path?from=doc-{number}&to=doc-3&direction=out"
        one, many = ask(server, "GET", path, token=None), ask(router, "GET", path)
        hops = [answer["path"] and answer["path"]["hops"] for _, answer in (one, many)]
        assert one[0] == many[0] == 200 and hops[0] == hops[1], (path, one, many)
        path = f"/api/v1/indexes/papers/neighbours?id=doc-{number}&hops=2&limit=500"
        one, many = ask(server, "GET", path, token=None), ask(router, "GET", path)
        assert drawn(one) == drawn(many), (path, one, many)
    path = "/api/v1/indexes/papers/neighbours?id=nowhere"
    assert ask(server, "GET", path, token=None) == ask(router, "GET", path)
    server.stop()
    return sorted(run("index", "export", "papers").stdout.splitlines())


def drawn(answer):
    """A neighbourhood, whose order means nothing."""
    status, found = answer
    order = lambda rows: sorted(rows, key=json.dumps)
    return status, found["complete"], order(found["nodes"]), order(found["edges"])


def check_server_in_front(kindred, scratch, router):
    """`kindred serve --at` has the indexes of the router, and says what is wrong if it cannot reach them."""
    at = ["--at", f"127.0.0.1:{router.port}"]
    front = Process(kindred, scratch / "front", ["serve", "--no-refresh", *at, "--at-token-file", scratch / "token"])
    names = [index["name"] for index in ask(front, "GET", "/api/v1/indexes", token=None)[1]["indexes"]]
    assert "papers" in names, names
    for query in queries():
        path = "/api/v1/indexes/papers/search"
        status, one = ask(front, "POST", path, query, token=None)
        assert status == 200 and comparable(one) == comparable(must(router, "POST", path, query)), (query, one)
    for path in ["/document?id=doc-7", "/neighbours?id=doc-7&hops=2", "/document?id=nowhere", "/search?q=%22&mode=text", "/path?from=doc-1&to=doc-9"]:
        path = "/api/v1/indexes/papers" + path
        one, many = ask(front, "GET", path, token=None), ask(router, "GET", path)
        assert (one[0], comparable(one[1])) == (many[0], comparable(many[1])), (path, one, many)
    body = {"documents": [{"id": "by-the-front", "text": "lantern"}]}
    assert ask(front, "POST", "/api/v1/indexes/papers/documents", body, token=None) == (200, {"added": 1, "refused": [], "linked": []})
    assert ask(front, "DELETE", "/api/v1/indexes/papers/document?id=by-the-front", token=None)[0] == 204
    session = ask(front, "GET", "/api/v1/session", token=None)[1]
    assert session["indexes_at"] == f"http://127.0.0.1:{router.port}", session
    assert not (scratch / "front" / "data" / "indexes").exists()
    assert front.stop() == 0
    stranger = Process(kindred, scratch / "stranger", ["serve", "--no-refresh", *at])
    status, answer = ask(stranger, "GET", "/api/v1/indexes", token=None)
    assert status == 502 and "--at-token-file" in answer["error"]["message"], (status, answer)
    stranger.stop()
    lost = Process(kindred, scratch / "lost", ["serve", "--no-refresh", "--at", "127.0.0.1:1"])
    status, answer = ask(lost, "GET", "/api/v1/indexes/papers/search?q=tide", token=None)
    assert status == 502 and "http://127.0.0.1:1, which does not answer" in answer["error"]["message"], (status, answer)
    lost.stop()
    done = subprocess.run([kindred, "serve", "--at", "ftp://x"], capture_output=True, text=True)
    assert done.returncode == 2 and "--at ftp://x" in done.stderr, done


def check_one_node(kindred, scratch, made):
    """A node with --api is enough for one machine, also after a restart."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    node = Process(kindred, scratch / "alone", ["node", "--api", f"127.0.0.1:{port}"])
    lines = scratch / "alone.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in made[:30]))
    at = ["--at", f"127.0.0.1:{port}"]
    run = lambda *words: subprocess.run([kindred, *words, *at], check=True, capture_output=True, text=True).stdout
    run("index", "create", "papers", "--embed", "none", "--partitions", "4")
    run("index", "add", "papers", lines)
    first = json.loads(run("search", "papers", made[7]["title"], "--json"))
    assert first["hits"], first
    assert node.stop() == 0
    node.start()
    assert comparable(json.loads(run("search", "papers", made[7]["title"], "--json"))) == comparable(first)
    node.stop()
    refused = subprocess.run([kindred, "node", "--data", scratch / "no", "--listen", "127.0.0.1:0", "--api", "10.0.0.1:1"], capture_output=True, text=True)
    assert refused.returncode == 2, refused


def check_meaning(kindred, scratch, router, made):
    """A router makes vectors of documents and questions: hybrid and vector answers are those of one index."""
    lines = scratch / "meaning.jsonl"
    meant = [{**one, "text": f"{draw_phrase(i)} {one['text']}"} for i, one in enumerate(made[:200])]
    lines.write_text("".join(json.dumps(one) + "\n" for one in meant))
    at = ["--at", f"127.0.0.1:{router.port}", "--at-token-file", scratch / "token"]
    local = ["--data", scratch / "two" / "data"]
    for where in (at, local):
        for words in (["create", "meaning", "--embed", "words"], ["add", "meaning", lines]):
            subprocess.run([kindred, "index", *words, *where], check=True, capture_output=True, text=True)
    compared = 0
    for text in ["ships in a storm", "the price of bread", "music for children", "winter mountains"]:
        for mode in ("hybrid", "vector"):
            found = [json.loads(subprocess.run([kindred, "search", "meaning", text, "--mode", mode, "--exact", "--json", *where],
                                               check=True, capture_output=True, text=True).stdout) for where in (local, at)]
            assert comparable(found[0]) == comparable(found[1]), f"{text} {mode}\n{found[0]}\n{found[1]}"
            compared += len(found[0]["hits"])
    assert compared > 40, compared


def draw_phrase(number):
    phrases = ["a sailor on the sea", "bakers sell loaves", "songs at school", "snow on the peaks", "trains and stations"]
    return phrases[number % len(phrases)]


def check_command_line(kindred, scratch, router, made, kept):
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
    path = run("search", "papers", "doc-0", "--mode", "graph", "--to", "doc-3", *at)
    assert "doc-0" in path and "doc-3" in path, path
    assert "3 deleted, 1 not found" in run("index", "delete", "few", "doc-1", "doc-2", "doc-3", "doc-none", *at)
    assert "47" in run("index", "stats", "few", *at)
    listed = run("index", "list", *at)
    assert "few" in listed and "47 documents" in listed and f"on {NODES} nodes" in listed, listed
    stages = json.dumps([{"find": "text", "q": made[9]["title"], "k": 20}, {"expand": 1}, {"limit": 5}])
    assert len(json.loads(run("search", "few", "--pipeline", stages, "--json", *at))["hits"]) == 5
    assert "times here, in" in run("search", "few", made[9]["title"], "--explain", *at)
    questions = scratch / "questions.jsonl"
    questions.write_text("".join(json.dumps({"id": str(i), "text": made[i]["title"]}) + "\n" for i in range(5, 15)))
    answers = run("search", "few", "--queries", questions, "-o", scratch / "run.jsonl", *at)
    assert "10 queries" in answers, answers
    hits = [json.loads(line)["hits"] for line in (scratch / "run.jsonl").read_text().splitlines()]
    assert len(hits) == 10 and all(hits), hits
    work = run("shards", "stats", "papers", *at)
    assert "ms of work a second on average" in work and "load ms/s" in work, work
    assert json.loads(run("index", "stats", "few", "--json", *at))["index"]["documents"] == 47
    assert "few is intact: 47 documents" in run("index", "check", "few", *at)
    assert "there is no index" in run("index", "delete", "none", "doc-1", *at, code=1)
    other = run("search", "few/../papers", "tide", *at, code=1)  # a name, not a path to another index
    assert "there is nothing at" in other, other
    exported = sorted(run("index", "export", "papers", *at).splitlines())
    assert exported == kept, "an export over nodes has the documents of one index"
    assert "token" in run("shards", "list", *at[:2], code=1)
    scenes = scratch / "scenes.jsonl"
    scenes.write_text(json.dumps({"id": "s", "embedding": [1, 0], "embeddings": {"audio": [0, 1, 0]}}) + "\n")
    run("index", "create", "scenes", "--dim", "2", "--space", "audio:3:l2", "--vectors", "f32", *at)
    run("index", "add", "scenes", scenes, *at)
    found = json.loads(run("search", "scenes", "--vector", "[0, 1, 0]", "--space", "audio", "--json", *at))
    assert [hit["id"] for hit in found["hits"]] == ["s"], found
    assert "dropped index few" in run("index", "drop", "few", *at)
    assert "there is no index" in run("index", "drop", "few", *at, code=1)
    assert "there is no index" in run("search", "few", "tide", *at, code=1)
    run("index", "create", "few", "--embed", "none", *at)
    assert json.loads(run("index", "stats", "few", "--json", *at))["index"]["documents"] == 0
    assert "nothing found" in run("search", "few", made[7]["title"], *at)


class Adding:
    """Adds documents through a router, which may be away, until it is stopped; knows which are acknowledged."""

    def __init__(self, router, name="kept"):
        self.router, self.name, self.acknowledged, self.attempts, self.stopped = router, name, [], 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopped:
            self.attempts += 1
            self.acknowledged += add_batch(self.router, f"{self.name}-{self.attempts}")

    def await_more(self, count=1):
        known = len(self.acknowledged)
        wait_until(f"{self.name} acknowledges", lambda: len(self.acknowledged) >= known + count)

    def stop(self):
        self.stopped = True
        self.thread.join()


def add_batch(router, name):
    """The ids of 20 new documents, which go to all nodes; none if they are not acknowledged."""
    batch = [{"id": f"{name}-{i}", "title": "kept", "text": f"{name} tide"} for i in range(20)]
    try:
        status, _ = ask(router, "POST", "/api/v1/indexes/papers/documents", {"documents": batch})
    except (OSError, http.client.HTTPException):
        return []  # the router was killed
    return [one["id"] for one in batch] if status == 200 else []


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def processor_seconds(process):
    """Of all its threads since it was started."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Restarts:
    """Kills servers and starts them again; measures how long it takes until a search of all nodes and a write are
    answered, and how much of that the server was at work."""

    def __init__(self):
        self.seconds, self.work, self.acknowledged = [], [], []

    def kill(self, server, router):
        server.kill()
        begin = time.monotonic()
        server.start()
        wait_until("searches are answered", lambda: ask(router, "GET", "/api/v1/indexes/papers/search?q=tide")[0] == 200)
        added = []
        wait_until("documents are acknowledged", lambda: added.extend(add_batch(router, f"restart-{len(self.seconds)}")) or added)
        self.seconds.append(time.monotonic() - begin)
        self.work.append(processor_seconds(server.process))
        self.acknowledged += added

    def told(self):
        usual = sorted(self.seconds)[len(self.seconds) // 2]
        return (f"service was back after {usual:.2f} s mostly, {max(self.seconds):.2f} s at most, for which the server needed "
                f"{max(self.work):.2f} s of processor time at most")


def check_kills(router, nodes, cycles):
    """Killed nodes and routers lose nothing that was acknowledged. Every fifth kill is the router's."""
    draw = random.Random(int(os.environ.get("KILL_SEED", "1")))
    adding, restarts = Adding(router), Restarts()
    try:
        for cycle in range(cycles):
            adding.await_more(draw.randint(1, 200))
            restarts.kill(router if cycle % 5 == 2 else draw.choice(nodes), router)
        adding.await_more()
    finally:
        adding.stop()
    kept = adding.acknowledged + restarts.acknowledged
    check_kept(router, kept)
    return kept, restarts


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
            kept = check_same_answers(kindred, scratch, router, made)
            check_meaning(kindred, scratch, router, made)
            shards = must(router, "GET", "/api/v1/indexes/papers")["index"]["shards"]
            assert len(shards) == NODES and all(one["partitions"] == 16 and one["last_lsn"] > 0 for one in shards), shards
            check_command_line(kindred, scratch, router, made, kept)
            check_server_in_front(kindred, scratch, router)
            check_one_node(kindred, scratch, made)
            check_refusals(kindred, scratch, router, nodes)
            kept, restarts = check_kills(router, nodes, cycles)
            check_kept(router, [one["id"] for one in made[:50]])
            assert ask(router, "DELETE", "/api/v1/indexes/papers/document?id=doc-0")[0] == 204
            assert ask(router, "GET", "/api/v1/indexes/papers/document?id=doc-0")[0] == 404
            codes = [one.stop() for one in [router, *nodes]]
            assert codes == [0] * len(codes), codes
        finally:
            for one in [router, *nodes]:
                one.process.kill()
    print(f"nodes hold: {len(kept)} documents kept over {cycles} kills; {restarts.told()}")


if __name__ == "__main__":
    main()
