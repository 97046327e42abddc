#!/usr/bin/env python3
"""A store in S3 with a cache in Redis (TLS, password) gives the same as a local store without a cache: while Redis
answers, when it is killed during a run, and when it does not run at all.

usage: cache_test.py KINDRED [RECORDS]
"""
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from workers_test import SERVICES, make_corpus, start_servers


def write(path, corpus, mark):
    path.write_text("".join(json.dumps({**record, "id": mark + record["id"]}) + "\n" for record in corpus))


def start(kindred, config, run, environment):
    folder = config.parent
    return subprocess.Popen([kindred, "dedup", folder.parent / f"{run}.jsonl", "-o", folder / f"{run}.out.jsonl", "--config",
                             config, "--run", run, "--quiet", "--metrics", folder / "metrics.prom"], env=environment)


def outputs(config, run):
    folder = config.parent
    return (folder / f"{run}.out.jsonl").read_text(), (folder / f"{run}.out.removed.jsonl").read_text()


def start_redis(stack, folder):
    server = stack.enter_context(subprocess.Popen(
        [sys.executable, SERVICES / "serve.py", "redis", "--password", "pass word", "--secure", folder],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    stack.callback(server.stdin.close)
    # Redis prints its own messages to the same output.
    return server, next(int(line) for line in server.stdout if line.strip().isdigit())


def hits(folder, port):
    told = subprocess.run(["redis-cli", "-p", str(port), "--tls", "--cacert", folder / "cert.pem", "info", "stats"], check=True,
                          capture_output=True, text=True, env={**os.environ, "REDISCLI_AUTH": "pass word"}).stdout
    return next(int(line.split(":")[1]) for line in told.splitlines() if line.startswith("keyspace_hits:"))


def metrics(path):
    """The figures of a run, by name."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("kindred_run_")]
    return {line.split("{")[0]: float(line.rsplit(" ", 1)[1]) for line in lines}


def main():
    kindred = str(pathlib.Path(sys.argv[1]).resolve())
    corpus = make_corpus(int(sys.argv[2]) if len(sys.argv) > 2 else 400, random.Random(7))
    runs = ["first", "alive", "killed", "gone"]
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        configs = {name: folder / name / "kindred.yaml" for name in ("local", "s3")}
        for part in ("local", "s3", "tls"):
            (folder / part).mkdir()
        # Every run reads the corpus again, with other ids and in another order.
        for number, run in enumerate(runs):
            random.Random(number).shuffle(corpus)
            write(folder / f"{run}.jsonl", corpus, run)
        endpoint = f"http://127.0.0.1:{start_servers(stack, 's3')}"
        redis, port = start_redis(stack, folder / "tls")
        configs["local"].write_text("global_fingerprints: {backend: local}\n")
        configs["s3"].write_text(
            "global_fingerprints:\n  backend: s3\n"
            f"  storage: {{bucket: shared, endpoint: '{endpoint}'}}\n"
            f"  cache: {{redis: {{address: 'localhost:{port}', tls: true, password_env: CACHE_PASSWORD}}}}\n")
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
                       "CACHE_PASSWORD": "pass word", "SSL_CERT_FILE": str(folder / "tls/cert.pem")}
        subprocess.run([kindred, "store", "create", "--config", configs["s3"]], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
        found = 0
        for run in runs:
            assert start(kindred, configs["local"], run, environment).wait(timeout=600) == 0
            process = start(kindred, configs["s3"], run, environment)
            if run == "killed":
                redis.stdin.close()
                redis.wait()
            assert process.wait(timeout=600) == 0, f"run {run} failed"
            assert outputs(configs["local"], run) == outputs(configs["s3"], run), f"run {run} has other results"
            if run == "alive":
                found = hits(folder / "tls", port)
                assert found > 0, "nothing came from the cache"
                told = metrics(folder / "s3" / "metrics.prom")
                assert told["kindred_run_requests"] > 5 and told["kindred_run_cache_hits"] == found, told
            if run == "gone":
                assert metrics(folder / "s3" / "metrics.prom")["kindred_run_cache_failures"] > 0
    print(f"{len(runs)} runs as without a cache, {found} documents from it")


if __name__ == "__main__":
    main()
