#!/usr/bin/env python3
"""A web server that behaves like good, bad and broken ones on the web.

usage: server.py FEEDS_DIR [--tls DIR]

Listens on a free port of 127.0.0.1 and prints it. With --tls also listens with TLS on a second
port, and writes its certificate to DIR/cert.pem. Ends when standard input closes.

Paths:
  /file/NAME              a file of FEEDS_DIR
  /feed, /favicon.ico     where sites keep them
  /versions/NAME          a feed that is another at each request
  /type/TYPE/NAME         the same with a content type; '_' stands for '/', ';' may follow
  /etag, /modified        a feed with ETag / Last-Modified, 304 if the request knows it
  /gzip, /deflate         a compressed feed; /damaged-gzip one that cannot be unpacked
  /bomb                   10 MB of zeros sent as 10 KB of gzip
  /status/N               an answer of that status; ?retry=S adds Retry-After
  /redirect/N/TO          a redirect of status N to TO, which is a path or a whole address (quoted)
  /loop                   redirects to itself
  /slow                   one byte a second, for ever; /endless bytes as fast as they go
  /hang                   accepts the request and says nothing; /closed closes at once
  /short                  promises more than it sends; /long-header a header without end
  /echo                   the request's header fields, one a line, and what was posted
  /count/NAME             how often /counted/NAME or /closed/NAME was asked for, and the most at once
  /connections            how many connections were accepted
  /session                "reused" if TLS took up an earlier session, else "new"; closes the connection
  /take                   the method, the number of bytes of the body and their SHA-256
  /bytes/N                N bytes: 0, 1, ... 250, 0, 1 ...
  /gather/NAME/N          answers when N requests for NAME have come
"""
import gzip
import hashlib
import http.server
import pathlib
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
import zlib

FEEDS = pathlib.Path(sys.argv[1])
TYPES = {".xml": "application/xml", ".json": "application/feed+json", ".html": "text/html",
         ".png": "image/png", ".ico": "image/x-icon", ".svg": "image/svg+xml"}
LOCK = threading.Lock()
COUNTED = threading.Condition()
COUNTS = {}
CONNECTIONS = [0]
GATHERED = {}
ARRIVAL = threading.Condition()
VERSIONS = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    posted = b""

    def do_POST(self):
        self.posted = b"".join(self.pieces())
        self.do_GET()

    def do_PUT(self):
        self.do_GET()

    do_DELETE = do_PATCH = do_HEAD = do_PUT

    def pieces(self):
        """The body of the request, as it is received."""
        left = int(self.headers.get("Content-Length", 0))
        while left > 0:
            piece = self.rfile.read(min(left, 65536))
            if not piece:
                raise ConnectionResetError
            left -= len(piece)
            yield piece
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        parts = path.path.strip("/").split("/")
        name = parts[0].replace("-", "_").replace(".", "_")
        action = getattr(self, "at_" + name, None)
        try:
            if action:
                action(parts[1:], urllib.parse.parse_qs(path.query))
            else:
                self.answer(404, b"not here", {})
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def answer(self, status, body, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 304 and self.command != "HEAD":
            self.wfile.write(body)

    def feed(self, name="rss20.xml"):
        return (FEEDS / name).read_bytes()

    def at_feed(self, parts, _):
        self.answer(200, self.feed(), {})

    def at_favicon_ico(self, parts, _):
        self.answer(200, self.feed("icon.ico"), {"Content-Type": "text/html"})

    def at_versions(self, parts, _):
        with LOCK:
            VERSIONS[parts[0]] = VERSIONS.get(parts[0], 0) + 1
        item = f"<item><title>Version {VERSIONS[parts[0]]}</title><guid>v{VERSIONS[parts[0]]}</guid></item>"
        self.answer(200, f"<rss><channel><title>Versions</title>{item}</channel></rss>".encode(), {})

    def at_file(self, parts, _):
        path = FEEDS / parts[0]
        if not path.is_file():
            return self.answer(404, b"no such file", {})
        self.answer(200, path.read_bytes(), {"Content-Type": TYPES.get(path.suffix, "text/plain")})

    def at_type(self, parts, _):
        kind = urllib.parse.unquote(parts[0]).replace("_", "/", 1)
        self.answer(200, self.feed(parts[1]), {"Content-Type": kind})

    def at_etag(self, parts, _):
        fields = {"ETag": '"v1"', "Content-Type": "application/rss+xml", "Cache-Control": "max-age=1800"}
        known = self.headers.get("If-None-Match") == '"v1"'
        self.answer(304 if known else 200, b"" if known else self.feed(), fields)

    def at_modified(self, parts, _):
        stamp = "Tue, 05 Mar 2024 08:05:30 GMT"
        known = self.headers.get("If-Modified-Since") == stamp
        self.answer(304 if known else 200, b"" if known else self.feed(), {"Last-Modified": stamp})

    def at_gzip(self, parts, _):
        self.answer(200, gzip.compress(self.feed()), {"Content-Encoding": "gzip"})

    def at_deflate(self, parts, _):
        self.answer(200, zlib.compress(self.feed()), {"Content-Encoding": "deflate"})

    def at_damaged_gzip(self, parts, _):
        packed = bytearray(gzip.compress(self.feed()))
        packed[40:60] = b"x" * 20
        self.answer(200, bytes(packed), {"Content-Encoding": "gzip"})

    def at_bomb(self, parts, _):
        packed = gzip.compress(b"\0" * 10_000_000)
        self.answer(200, packed, {"Content-Encoding": "gzip"})

    def at_status(self, parts, query):
        fields = {"Retry-After": query["retry"][0]} if "retry" in query else {}
        self.answer(int(parts[0]), b"status", fields)

    def at_redirect(self, parts, _):
        target = urllib.parse.unquote("/".join(parts[1:]))
        self.answer(int(parts[0]), b"gone there", {"Location": target if "://" in target else "/" + target})

    def at_loop(self, parts, _):
        self.answer(302, b"", {"Location": "/loop"})

    def stream(self, piece, pause):
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.end_headers()
        while True:
            self.wfile.write(piece)
            self.wfile.flush()
            if pause:
                time.sleep(pause)

    def at_slow(self, parts, _):
        self.stream(b" ", 1)

    def at_endless(self, parts, _):
        self.stream(b"<item>" * 10_000, 0)

    def at_hang(self, parts, _):
        time.sleep(3_600)

    def at_closed(self, parts, _):
        if parts:
            with LOCK:
                COUNTS.setdefault(parts[0], {"now": 0, "most": 0, "all": 0})["all"] += 1
        self.close_connection = True

    def at_connections(self, parts, _):
        self.answer(200, str(CONNECTIONS[0]).encode(), {})

    def at_session(self, parts, _):
        self.answer(200, b"reused" if self.connection.session_reused else b"new", {"Connection": "close"})

    def at_take(self, parts, _):
        size, digest = 0, hashlib.sha256()
        for piece in self.pieces():
            size += len(piece)
            digest.update(piece)
        self.answer(200, f"{self.command} {size} {digest.hexdigest()}".encode(), {})

    def at_bytes(self, parts, _):
        size, pattern = int(parts[0]), bytes(range(251)) * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        for at in range(0, size, len(pattern)):
            self.wfile.write(pattern[:size - at])

    def at_gather(self, parts, _):
        with ARRIVAL:
            GATHERED[parts[0]] = GATHERED.get(parts[0], 0) + 1
            ARRIVAL.notify_all()
            together = ARRIVAL.wait_for(lambda: GATHERED[parts[0]] >= int(parts[1]), timeout=60)
        self.answer(200 if together else 504, b"together" if together else b"alone", {})

    def at_short(self, parts, _):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"short")
        self.close_connection = True

    def at_long_header(self, parts, _):
        self.send_response(200)
        for number in range(2_000):
            self.send_header(f"X-{number}", "y" * 100)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def at_echo(self, parts, _):
        lines = "".join(f"{name}: {value}\n" for name, value in self.headers.items())
        self.answer(200, lines.encode() + self.posted, {"Content-Type": "text/plain"})

    def at_counted(self, parts, _):
        with COUNTED:
            count = COUNTS.setdefault(parts[0], {"now": 0, "most": 0, "all": 0})
            count["now"] += 1
            count["all"] += 1
            count["most"] = max(count["most"], count["now"])
            COUNTED.notify_all()
            # The first waits for a second one, even on a slow machine; a third has time to arrive.
            COUNTED.wait_for(lambda: count["most"] > 1, timeout=60)
        time.sleep(0.1)
        with COUNTED:
            count["now"] -= 1
        self.answer(200, b"counted", {})

    def at_count(self, parts, _):
        count = COUNTS.get(parts[0], {"all": 0, "most": 0})
        self.answer(200, f"{count['all']} {count['most']}".encode(), {})


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512

    def process_request(self, *arguments):
        CONNECTIONS[0] += 1
        super().process_request(*arguments)

    def handle_error(self, *_):
        pass  # clients that hang up are what the tests are about


def serve(context=None):
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def tls_context(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
    return context


def main():
    ports = [serve()]
    if len(sys.argv) > 3:
        ports.append(serve(tls_context(sys.argv[3])))
    print(*ports, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
