#!/usr/bin/env python3
"""Starts a real server for a test and prints its port on 127.0.0.1. Stops it when the input ends.

usage: serve.py dynoxide | dynalite | s3rver BUCKET... | redis [--password WORD] [--secure FOLDER]
       serve.py etcd [--data FOLDER] [--port PORT] [--secure FOLDER]

scripts/setup installs the servers. --secure makes a key and a self-signed certificate, cert.pem, in FOLDER; the
port is then a TLS port. --data and --port start an etcd again that was stopped. KINDRED_NODE names another node than the one on the path.
"""
import argparse
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    except OSError:
        return False


def start_on_free_port(command_for, folder, wanted=0):
    """For servers that cannot choose a port themselves: another process may take it first, so try several."""
    for _ in range(20):
        port = wanted or free_port()
        server = subprocess.Popen(command_for(port), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while server.poll() is None:
            if answers(port):
                return server, port
            time.sleep(0.02)
    raise SystemExit(f"serve.py: {command_for(0)[0]} does not start")


def start_node(words):
    node = os.environ.get("KINDRED_NODE") or shutil.which("node") or shutil.which("nodejs")
    # s3rver encrypts continuation tokens with DES, which OpenSSL 3 has in its legacy part only.
    environment = {**os.environ, "NODE_OPTIONS": "--openssl-legacy-provider"}
    server = subprocess.Popen([node, HERE / "serve.js", *words], cwd=HERE, env=environment,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    if not line.strip():
        raise SystemExit(f"serve.py: {words[0]} does not start")
    return server, int(line)


def make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
                   cwd=folder, check=True, capture_output=True)


def redis_command(port, password, tls):
    words = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"]
    words += ["--port", "0", "--tls-port", str(port)] if tls else ["--port", str(port)]
    if tls:
        words += ["--tls-cert-file", f"{tls}/cert.pem", "--tls-key-file", f"{tls}/key.pem",
                  "--tls-ca-cert-file", f"{tls}/cert.pem", "--tls-auth-clients", "no"]
    return words + (["--requirepass", password] if password else [])


def etcd_command(port, data, tls):
    here, peer = f"{'https' if tls else 'http'}://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
    words = ["etcd", "--data-dir", data, "--listen-client-urls", here, "--advertise-client-urls", here,
             "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
             "--logger", "zap", "--log-level", "fatal"]
    return words + (["--cert-file", f"{tls}/cert.pem", "--key-file", f"{tls}/key.pem"] if tls else [])


def start(options, folder):
    if options.name == "dynoxide":
        program = HERE / "node_modules/@dynoxide/linux-x64/dynoxide"
        return start_on_free_port(
            lambda port: [program, "serve", "--host", "127.0.0.1", "-p", str(port)], folder)
    if options.name == "redis":
        if options.secure:
            make_certificate(options.secure)
        return start_on_free_port(lambda port: redis_command(port, options.password, options.secure), folder)
    if options.name == "etcd":
        if options.secure:
            make_certificate(options.secure)
        data = options.data or f"{folder}/etcd"
        return start_on_free_port(lambda port: etcd_command(port, data, options.secure), folder, options.port)
    return start_node([options.name, *([folder] if options.name == "s3rver" else []), *options.buckets])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("name", choices=["dynoxide", "dynalite", "s3rver", "redis", "etcd"])
    parser.add_argument("buckets", nargs="*")
    parser.add_argument("--password", default="")
    parser.add_argument("--secure", default="")
    parser.add_argument("--data", default="")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    # The end of the input ends this program. A signal at that moment must not prevent the kill below: the server
    # would keep running, and hold the output of the test open.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        server, port = start(options, folder)
        try:
            print(port, flush=True)
            sys.stdin.buffer.read()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
