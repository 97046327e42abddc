#!/usr/bin/env python3
"""The metadata services of clouds. Prints the port; ends when its input does.

usage: metadata.py EXPIRATION...

The n-th credentials given out are AKn, SECRETn, TOKENn and expire at the n-th EXPIRATION; after the last, the
services fail. The instance's service is at / (version 2: only with a token), the container's at /container and,
for requests with "Authorization: let-me-in", at /guarded.
"""
import http.server
import json
import sys
import threading

expirations = sys.argv[1:]
given = 0
lock = threading.Lock()
ROLES = "/latest/meta-data/iam/security-credentials/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, text=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        allowed = self.path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds")
        self.answer(200, "the-token") if allowed else self.answer(400)

    def do_GET(self):
        if self.path.startswith("/latest/"):
            if self.headers.get("X-aws-ec2-metadata-token") != "the-token":
                return self.answer(401)
            if self.path == ROLES:
                return self.answer(200, "worker\n")
            return self.credentials() if self.path == ROLES + "worker" else self.answer(404)
        if self.path == "/guarded" and self.headers.get("Authorization") != "let-me-in":
            return self.answer(401)
        return self.credentials()

    def credentials(self):
        global given
        with lock:
            given += 1
            number = given
        if number > len(expirations):
            return self.answer(500)
        self.answer(200, json.dumps({
            "Code": "Success", "AccessKeyId": f"AK{number}", "SecretAccessKey": f"SECRET{number}",
            "Token": f"TOKEN{number}", "Expiration": expirations[number - 1]}))


http.server.ThreadingHTTPServer.request_queue_size = 256
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.buffer.read()
