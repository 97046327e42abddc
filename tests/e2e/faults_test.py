#!/usr/bin/env python3
"""Runs with --config over DynamoDB and S3 behind a proxy that checks every signature, has another time than we, and makes
many requests fail: outputs, logs and ledgers are those of the local store.

usage: faults_test.py KINDRED [RECORDS]
"""
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import urllib.request

from workers_test import SERVICES, make_corpus, start_program

# A request has ten tries. These shares leave no chance that all of them fail.
FAULTS = "throttle=0.02,error=0.02,error_after=0.02,reset=0.02,reset_after=0.02,truncated=0.02,slow=0.02,duplicate=0.05"
BACKENDS = {"local": None, "dynamodb": ("dynoxide", FAULTS + ",unprocessed=0.2,corrupt=0.02"), "s3": ("s3rver", FAULTS)}
SKEW = 3 * 60 * 60  # seconds
RUNS = {"monday": 0, "tuesday": 1}


def start_faulty(stack, backend):
    """The port of the proxy; nothing for the local store."""
    if BACKENDS[backend] is None:
        return None
    server, faults = BACKENDS[backend]
    return start_program(stack, SERVICES / "proxy.py", "s3" if backend == "s3" else "dynamodb",
                         str(start_program(stack, SERVICES / "serve.py", server)), "--faults", faults, "--skew", str(SKEW))


def configure(folder, backend, port):
    endpoint = f"region: us-east-1, endpoint: 'http://127.0.0.1:{port}'"
    place = {"local": "", "s3": f"  storage: {{bucket: shared, {endpoint}}}\n", "dynamodb": f"  dynamodb: {{{endpoint}}}\n"}
    (folder / "kindred.yaml").write_text(f"global_fingerprints:\n  backend: {backend}\n  priorities: {{sources: [books]}}\n"
                                         + place[backend])


def run(kindred, folder, *words):
    environment = {**os.environ, "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
                   "AWS_EC2_METADATA_DISABLED": "true"}
    done = subprocess.run([kindred, *words, "--config", "kindred.yaml"], cwd=folder, env=environment, capture_output=True,
                          text=True)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    assert "S3RVER" not in done.stdout + done.stderr, "a key was printed"
    return done.stdout


def results(kindred, folder, inputs):
    """Everything that two runs and a repetition of the first leave behind."""
    found = {}
    run(kindred, folder, "store", "create")
    for name in [*RUNS, "monday"]:
        run(kindred, folder, "dedup", f"../{name}.jsonl", "-o", f"{name}.out.jsonl", "--run", name, "--by",
            "exact,minhash,simhash,chunk", "--chunk", "fixed:64", "--quiet")
        found[f"{name} {len(found)}"] = [(folder / f"{name}.{part}.jsonl").read_text() for part in ("out", "out.removed")]
        entries = [json.loads(line) for line in run(kindred, folder, "ledger", "list", "--run", name, "--json").splitlines()]
        assert len(entries) == inputs[name], f"{name}: {len(entries)} entries"
        for entry in entries:
            del entry["at"]
        found[f"ledger of {name} {len(found)}"] = sorted(entries, key=lambda entry: entry["id"])
    assert json.loads(run(kindred, folder, "store", "check", "--json"))["faults"] == []
    return found


def main():
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    rng = random.Random(15)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        corpus = make_corpus(records, rng)
        for record in corpus:
            record["source"] = rng.choice(["web", "books", "press"])
        inputs = {}
        for name, part in RUNS.items():
            lines = [json.dumps(record) + "\n" for i, record in enumerate(corpus) if i % len(RUNS) == part]
            (folder / f"{name}.jsonl").write_text("".join(lines))
            inputs[name] = len(lines)
        expected, told = None, []
        for backend in BACKENDS:
            place = folder / backend
            place.mkdir()
            port = start_faulty(stack, backend)
            configure(place, backend, port)
            found = results(kindred, place, inputs)
            expected = expected or found
            for name, content in expected.items():
                assert found[name] == content, f"{backend}: {name} differs from the local store's"
            if port is None:
                continue
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/__counts") as answer:
                counts = json.loads(answer.read())
            assert counts.get("refused", 0) == 0, f"{backend}: wrong signatures: {counts}"
            assert counts.get("skewed", 0) > 0, f"{backend}: nobody noticed that the clocks differ: {counts}"
            told.append(f"{backend}: {counts['requests']} requests, "
                        f"{sum(counts.get(fault.split('=')[0], 0) for fault in BACKENDS[backend][1].split(','))} faults")
    print("the results of the local store; " + "; ".join(told))


if __name__ == "__main__":
    main()
