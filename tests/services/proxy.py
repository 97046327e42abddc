#!/usr/bin/env python3
"""A proxy in front of a test server that checks every signature and injects faults.

usage: proxy.py s3|dynamodb|tcp UPSTREAM_PORT [--faults KIND=SHARE,...] [--seed N] [--skew SECONDS]
                [--access-key KEY] [--secret-key KEY]

Prints its port; ends when its input does. GET /__counts answers with what it did, as JSON: "requests", "refused"
(signatures that were wrong), and the number of faults of each kind.

HTTP (s3, dynamodb): every request must be signed by SigV4, for its body too, at a time within 15 minutes of the
proxy's clock, which --skew moves. It makes up for what the server behind it lacks: `If-None-Match: *` (s3), virtual
hosts *.localhost (s3), x-amz-crc32 (dynamodb). Kinds of faults, each with its share of the requests:
  throttle     refused as too many, and not passed on
  error        500 or 503, not passed on           error_after   the same, after it was passed on
  reset        connection reset, not passed on     reset_after   the same, after it was passed on
  truncated    passed on, half of the answer       slow          passed on, the answer comes in small pieces
  duplicate    passed on twice, the first answer is given
  unprocessed  (dynamodb) batches are done in part, or not at all
  corrupt      (dynamodb) a byte of the answer is wrong

TCP: connections are cut after some thousand bytes ("reset"), or bytes come in small pieces ("slow").
"""
import argparse
import collections
import datetime
import hashlib
import hmac
import http.client
import http.server
import json
import random
import socket
import struct
import sys
import threading
import urllib.parse
import zlib

FAULTS = ["throttle", "error", "error_after", "reset", "reset_after", "truncated", "slow", "duplicate",
          "unprocessed", "corrupt"]
PIECE = 1000
MOST_PIECES = 50
lock = threading.Lock()
create_lock = threading.Lock()
counts = collections.Counter()


def parse_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("service", choices=["s3", "dynamodb", "tcp"])
    parser.add_argument("upstream", type=int)
    parser.add_argument("--faults", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skew", type=int, default=0)
    parser.add_argument("--access-key", default="S3RVER")
    parser.add_argument("--secret-key", default="S3RVER")
    options = parser.parse_args()
    options.shares = {}
    for part in filter(None, options.faults.split(",")):
        kind, share = part.split("=")
        if kind not in FAULTS:
            parser.error(f"unknown fault {kind}")
        options.shares[kind] = float(share)
    return options


options = parse_options()
chance = random.Random(options.seed)


def count(kind):
    with lock:
        counts[kind] += 1


def choose_fault(possible):
    """A fault for this request, or none. One seed gives one sequence of choices."""
    with lock:
        at = chance.random()
        for kind, share in options.shares.items():
            if at < share:
                return kind if kind in possible else None
            at -= share
    return None


def now():
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=options.skew)


# --- SigV4, written from its specification and not from our own signer

def encode(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


def canonical_query(query, safe):
    pairs = urllib.parse.parse_qsl(query.replace("+", "%2B"), keep_blank_values=True, encoding="utf-8",
                                   errors="surrogateescape")
    encoded = sorted((encode(name.encode("utf-8", "surrogateescape"), safe),
                      encode(value.encode("utf-8", "surrogateescape"), safe)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in encoded)


def signature(method, path, query, headers, names, payload_hash, time, scope, secret, safe=""):
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in names)
    request = "\n".join([method, path, canonical_query(query, safe), lines, ";".join(names), payload_hash])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def check_signature(method, target, headers, body):
    """The error code for a wrong signature of a request; nothing if it is right."""
    path, _, query = target.partition("?")
    try:
        algorithm, fields = headers["authorization"].split(" ", 1)
        fields = dict(field.strip().split("=", 1) for field in fields.split(","))
        access_key, scope = fields["Credential"].split("/", 1)
        names = fields["SignedHeaders"].split(";")
        time = headers["x-amz-date"]
        signed_at = datetime.datetime.strptime(time, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    except (KeyError, ValueError):
        return "MissingAuthenticationToken"
    if abs((now() - signed_at).total_seconds()) > 900:
        return "RequestTimeTooSkewed"
    payload_hash = hashlib.sha256(body).hexdigest()
    date, region, service, end = (scope.split("/") + [""] * 4)[:4]
    if algorithm != "AWS4-HMAC-SHA256" or access_key != options.access_key or date != time[:8] or end != "aws4_request":
        return "SignatureDoesNotMatch"
    # The headers that matter must be signed, and every signed header must be sent.
    required = {"host", *(name for name in headers if name.startswith("x-amz-"))}
    if options.service == "s3":
        if headers.get("x-amz-content-sha256") != payload_hash:
            return "XAmzContentSHA256Mismatch"
    if service != options.service or not required <= set(names) or not set(names) <= set(headers) or names != sorted(names):
        return "SignatureDoesNotMatch"
    # The path is sent in the form in which S3 signs it, and is "/" for DynamoDB.
    expected = signature(method, path, query, headers, names, payload_hash, time, scope, options.secret_key)
    return None if hmac.compare_digest(expected, fields["Signature"]) else "SignatureDoesNotMatch"


# --- the server behind

class Upstream:
    """One connection to it."""

    def __init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", options.upstream, timeout=600)

    def send(self, method, target, headers, body):
        if options.service == "s3":
            headers = self.sign(method, target, headers, body)
        self.connection.request(method, target, body, headers)
        response = self.connection.getresponse()
        return response.status, response.getheaders(), response.read()

    def sign(self, method, target, headers, body):
        path, _, query = target.partition("?")
        # s3rver compares queries as encodeURIComponent writes them, which escapes fewer characters.
        time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        scope = f"{time[:8]}/us-east-1/s3/aws4_request"
        kept = {name: value for name, value in headers.items()
                if name not in ("authorization", "host", "x-amz-date", "x-amz-content-sha256", "x-amz-checksum-sha256",
                                "if-none-match", "content-length", "accept", "user-agent")}
        kept |= {"host": f"127.0.0.1:{options.upstream}", "x-amz-date": time,
                 "x-amz-content-sha256": hashlib.sha256(body or b"").hexdigest()}
        names = sorted(kept)
        signed = signature(method, path, query, kept, names, kept["x-amz-content-sha256"], time, scope, "S3RVER",
                           safe="!'()*")
        kept["Authorization"] = (f"AWS4-HMAC-SHA256 Credential=S3RVER/{scope}, SignedHeaders={';'.join(names)}, "
                                 f"Signature={signed}")
        return kept


# --- faults in HTTP

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/__counts":
            return self.answer(200, [], json.dumps(counts).encode())
        count("requests")
        headers = collections.defaultdict(str)
        for name, value in self.headers.items():
            name = name.lower()
            headers[name] = f"{headers[name]},{value}" if name in headers else value
        wrong = check_signature(self.command, self.path, headers, body)
        if wrong:
            count("skewed" if wrong == "RequestTimeTooSkewed" else "refused")
            return self.fail(403, wrong)
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        possible = [kind for kind in FAULTS if options.service == "dynamodb" or kind not in ("unprocessed", "corrupt")]
        if not operation.startswith("Batch"):
            possible = [kind for kind in possible if kind != "unprocessed"]
        fault = choose_fault(possible)
        if fault:
            count(fault)
        self.with_fault(fault, dict(headers), body, operation)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request

    def with_fault(self, fault, headers, body, operation):
        if fault == "throttle":
            return (self.fail(503, "SlowDown") if options.service == "s3"
                    else self.fail(400, "ProvisionedThroughputExceededException"))
        if fault == "error":
            return self.fail(500 if len(body) % 2 else 503, "InternalError")
        if fault == "reset":
            return self.reset()
        if fault == "unprocessed":
            return self.batch_in_part(headers, body, operation)
        status, answered, content = self.pass_on(headers, body)
        if fault == "duplicate":
            self.pass_on(headers, body)
        if fault == "error_after":
            return self.fail(500, "InternalError")
        if fault == "reset_after":
            return self.reset()
        self.answer(status, answered, content, fault)

    def pass_on(self, headers, body):
        target = self.path
        if options.service == "s3":
            # Virtual hosts become paths.
            name = headers["host"].partition(":")[0]
            if name.endswith(".localhost"):
                path, mark, query = target.partition("?")
                target = f"/{name.removesuffix('.localhost')}{'' if path == '/' else path}{mark}{query}"
            if headers.get("if-none-match") == "*" and self.command == "PUT":
                with create_lock:
                    status, _, _ = self.upstream().send("HEAD", target, {}, b"")
                    if status == 200:
                        return 412, [], s3_error("PreconditionFailed")
                    return self.upstream().send(self.command, target, headers, body)
            return self.upstream().send(self.command, target, headers, body)
        sent = {name: value for name, value in headers.items() if name not in ("host", "content-length")}
        return self.upstream().send(self.command, target, sent, body)

    def upstream(self):
        if not hasattr(self, "upstream_"):
            self.upstream_ = Upstream()
        return self.upstream_

    def batch_in_part(self, headers, body, operation):
        """Forwards some items of a batch, and returns the others as unprocessed."""
        request = json.loads(body)
        (table, content), = request["RequestItems"].items()
        write = operation == "BatchWriteItem"
        items = content if write else content["Keys"]
        with lock:
            done = chance.randrange(len(items))
        rest = items[done:] if write else {**content, "Keys": items[done:]}
        answer = {"Responses": {table: []}} if not write else {}
        if done:
            part = items[:done] if write else {**content, "Keys": items[:done]}
            smaller = json.dumps({**request, "RequestItems": {table: part}}).encode()
            status, answered, given = self.pass_on(headers, smaller)
            if status != 200:
                return self.answer(status, answered, given)
            answer = json.loads(given)
        left = answer.setdefault("UnprocessedItems" if write else "UnprocessedKeys", {})
        if table in left:  # by the server itself
            rest = left[table] + rest if write else {**content, "Keys": left[table]["Keys"] + rest["Keys"]}
        left[table] = rest
        self.answer(200, [], json.dumps(answer).encode())

    def fail(self, status, code):
        if options.service == "s3":
            return self.answer(status, [], s3_error(code))
        text = {"__type": f"com.amazon.coral.service#{code}", "message": code}
        self.answer(status, [], json.dumps(text).encode())

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def answer(self, status, headers, content, fault=None):
        self.send_response_only(status)
        self.send_header("Date", now().strftime("%a, %d %b %Y %H:%M:%S GMT"))
        skipped = {"date", "connection", "transfer-encoding", "content-length", "keep-alive", "x-amz-crc32"}
        length = str(len(content))
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            if name.lower() not in skipped:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        if options.service == "dynamodb":
            self.send_header("x-amz-crc32", str(zlib.crc32(content)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "corrupt" and content:
            with lock:
                at = chance.randrange(len(content))
            content = content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]
        if fault == "truncated" and content:
            self.wfile.write(content[:len(content) // 2])
            self.close_connection = True
            return
        if fault == "slow":
            piece = max(PIECE, len(content) // MOST_PIECES)
            for at in range(0, len(content), piece):
                self.wfile.write(content[at:at + piece])
                self.wfile.flush()
                threading.Event().wait(0.002)
            return
        self.wfile.write(content)


def s3_error(code):
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request, client_address):
        # Clients close connections, and the proxy resets some itself.
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError, OSError)):
            super().handle_error(request, client_address)


# --- faults in TCP

def pump(source, target, limit, slow):
    """Copies bytes; cuts both connections after `limit`."""
    passed = 0
    try:
        while data := source.recv(PIECE if slow else 1 << 16):
            if limit is not None and passed + len(data) > limit:
                target.sendall(data[:limit - passed])
                break
            target.sendall(data)
            passed += len(data)
            if slow:
                threading.Event().wait(0.001)
    except OSError:
        pass
    for side in (source, target):
        try:
            side.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve_tcp(listener):
    while True:
        client, _ = listener.accept()
        count("requests")
        upstream = socket.create_connection(("127.0.0.1", options.upstream))
        fault = choose_fault(["reset", "slow"])
        if fault:
            count(fault)
        with lock:
            limit = chance.randrange(1, 20000) if fault == "reset" else None
        for pair in ((client, upstream), (upstream, client)):
            threading.Thread(target=pump, args=(*pair, limit, fault == "slow"), daemon=True).start()


def main():
    if options.service == "tcp":
        listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=serve_tcp, args=(listener,), daemon=True).start()
        print(listener.getsockname()[1], flush=True)
    else:
        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
