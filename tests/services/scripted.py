#!/usr/bin/env python3
"""An HTTP server whose answer depends on the path of the request. Prints its port; ends when its input does.

  /script/NAME/STEP,STEP,...  the n-th request for NAME is answered by the n-th step, later ones by the last
  /seen/NAME                  the X-Amz-Date of each request for NAME so far, a line each

A step is a status, "reset" (the connection is reset without an answer), "half" (half of an answer), "hang" (no
answer at all), "later" (403, dated an hour after the request) or "wait" (503 with Retry-After: 7).
"""
import collections
import datetime
import http.server
import socket
import struct
import sys
import threading

seen = collections.defaultdict(list)
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=None):
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, kind, name, *steps = self.path.split("/")
        if kind == "seen":
            return self.answer(200, "".join(f"{date}\n" for date in seen[name]).encode())
        date = self.headers.get("X-Amz-Date") or "none"
        with lock:
            seen[name].append(date)
            number = len(seen[name])
        steps = steps[0].split(",")
        self.step(steps[min(number, len(steps)) - 1], date)

    do_POST = do_PUT = do_GET

    def step(self, step, date):
        if step == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        elif step == "half":
            self.answer(200, b"half", {"Content-Length": "8"})
            self.close_connection = True
        elif step == "hang":
            self.rfile.read(1)
            self.close_connection = True
        elif step == "later":
            time = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ") + datetime.timedelta(hours=1)
            self.answer(403, b"", {"Date": time.strftime("%a, %d %b %Y %H:%M:%S GMT")})
        elif step == "wait":
            self.answer(503, b"", {"Retry-After": "7"})
        else:
            self.answer(int(step), b"answered")


http.server.ThreadingHTTPServer.request_queue_size = 256
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.buffer.read()
