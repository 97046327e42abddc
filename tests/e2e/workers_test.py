#!/usr/bin/env python3
"""Four workers ingest shuffled, overlapping slices of one corpus into one store at the same time; one of them is killed
and restarted. Together they keep no two records that a single worker would not keep together, every document
is in the ledger once, and no record is kept twice.

usage: workers_test.py KINDRED [RECORDS]       (DynamoDB; workers_s3_test.py: S3)
"""
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

SERVICES = pathlib.Path(__file__).resolve().parent.parent / "services"
WORDS = [f"w{i}" for i in range(2_000)]
THRESHOLD = 0.8
WORKERS = 4


def make_corpus(records, rng):
    """Records of which a third repeat others, exactly or nearly."""
    corpus = []
    for number in range(records):
        if corpus and rng.random() < 0.35:
            text = rng.choice(corpus)["text"].split()
            for _ in range(rng.randrange(3)):
                text[rng.randrange(len(text))] = rng.choice(WORDS)
        else:
            text = [rng.choice(WORDS) for _ in range(rng.randrange(20, 50))]
        corpus.append({"id": str(number), "source": "web", "text": " ".join(text)})
    return corpus


def shingles(text):
    words = text.split()
    return {tuple(words[i:i + 5]) for i in range(max(1, len(words) - 4))}


def alike(a, b):
    return len(a & b) / len(a | b) >= THRESHOLD


def start_program(stack, *words):
    """Starts a server of tests/services that ends with its input. Its port."""
    server = stack.enter_context(subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE,
                                                  stdout=subprocess.PIPE, text=True))
    stack.callback(server.stdin.close)
    return int(server.stdout.readline())


def start_servers(stack, backend):
    if backend == "dynamodb":
        return start_program(stack, SERVICES / "serve.py", "dynoxide")
    # s3rver does not know If-None-Match; the proxy does.
    return start_program(stack, SERVICES / "proxy.py", "s3", str(start_program(stack, SERVICES / "serve.py", "s3rver")))


def start(kindred, folder, worker, environment):
    return subprocess.Popen([kindred, "dedup", folder / f"slice{worker}.jsonl", "-o", folder / f"kept{worker}.jsonl",
                             "--config", folder / "kindred.yaml", "--run", "all", "--worker", f"part {worker}", "--quiet"],
                            env=environment)


def kept_by(folder, worker):
    return [json.loads(line) for line in (folder / f"kept{worker}.jsonl").read_text().splitlines()]


def check(kindred, folder, corpus, environment):
    kept = [record for worker in range(WORKERS) for record in kept_by(folder, worker)]
    ids = [record["id"] for record in kept]
    assert len(ids) == len(set(ids)), "a record was kept by two workers"
    sets = [shingles(record["text"]) for record in kept]
    for i, one in enumerate(sets):
        for j in range(i):
            assert not alike(one, sets[j]), f"{ids[i]} and {ids[j]} are duplicates, and both were kept"
    # Nothing is lost: every removed record has a kept duplicate.
    gone = [record for record in corpus if record["id"] not in set(ids)]
    for record in gone:
        mine = shingles(record["text"])
        assert any(alike(mine, other) for other in sets), f"{record['id']} went, and nothing like it stays"
    listed = subprocess.run([kindred, "ledger", "list", "--run", "all", "--json", "--config", folder / "kindred.yaml"],
                            check=True, capture_output=True, text=True, env=environment).stdout.splitlines()
    entries = sorted(int(json.loads(line)["id"]) for line in listed)
    assert entries == list(range(len(corpus))), "the ledger has not every document once"
    accepted = {json.loads(line)["id"] for line in listed if json.loads(line)["status"] == "accepted"}
    assert accepted == set(ids), "the ledger accepted others than were kept"
    return len(kept), len(gone)


def main(backend="dynamodb"):
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    rng = random.Random(15)
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
                   "AWS_EC2_METADATA_DISABLED": "true"}
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = f"region: us-east-1, endpoint: 'http://127.0.0.1:{start_servers(stack, backend)}'"
        (folder / "kindred.yaml").write_text(
            f"global_fingerprints:\n  backend: {backend}\n" +
            (f"  storage: {{bucket: shared, prefix: kindred, {endpoint}}}\n" if backend == "s3" else
             f"  dynamodb: {{{endpoint}}}\n"))
        subprocess.run([kindred, "store", "create", "--config", folder / "kindred.yaml"], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
        corpus = make_corpus(records, rng)
        for worker in range(WORKERS):
            # Every record is in the slice of at least one worker.
            slice_ = [record for i, record in enumerate(corpus) if i % WORKERS == worker or rng.random() < 0.4]
            rng.shuffle(slice_)
            (folder / f"slice{worker}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in slice_))
        running = [start(kindred, folder, worker, environment) for worker in range(WORKERS)]
        try:
            running[0].wait(timeout=rng.random())
            killed = 0
        except subprocess.TimeoutExpired:
            running[0].send_signal(signal.SIGKILL)
            running[0].wait()
            killed = 1
        running[0] = start(kindred, folder, 0, environment)
        for process in running:
            assert process.wait(timeout=600) == 0, "a worker failed"
        kept, gone = check(kindred, folder, corpus, environment)
        subprocess.run([kindred, "store", "check", "--config", folder / "kindred.yaml"], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
    print(f"{backend}: {WORKERS} workers, {killed} killed: {kept} of {records} kept, {gone} gone, each for one like it")


if __name__ == "__main__":
    main()
