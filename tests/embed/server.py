#!/usr/bin/env python3
"""A server of OpenAI's embeddings API. The name of a model says how it behaves.

usage: server.py

Listens on a free port of 127.0.0.1 and prints it. Ends when standard input closes.

POST /v1/embeddings, by model:
  letters         [letters, vowels, words, 1] of each text, the last text first
  busy-N, down-N  429 (Retry-After: 3), 503, for the first N requests
  locked          401 unless the bearer token is "secret"
  few, twice, ragged, words, zero, unnumbered, garbage    answers that make no sense
  moved           a redirect
GET /batches      the number of texts of each request answered so far, and then forgets them
"""
import http.server
import json
import sys
import threading

LOCK = threading.Lock()
TRIES = {}
BATCHES = []


def vector(text):
    return [sum(map(str.isalpha, text)), sum(c in "aeiou" for c in text), len(text.split()), 1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, fields={}):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        with LOCK:
            self.answer(200, " ".join(map(str, BATCHES)).encode())
            BATCHES.clear()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, texts = request["model"], request["input"]
        if self.path != "/v1/embeddings" or self.headers["Content-Type"] != "application/json":
            return self.answer(404, b"not here")
        for name, status, fields in (("busy", 429, {"Retry-After": "3"}), ("down", 503, {})):
            if model.startswith(name + "-"):
                with LOCK:
                    TRIES[model] = TRIES.get(model, 0) + 1
                if TRIES[model] <= int(model.split("-")[1]):
                    return self.answer(status, {"error": {"message": "come back later"}}, fields)
        if model == "locked" and self.headers["Authorization"] != "Bearer secret":
            return self.answer(401, {"error": {"message": "Incorrect API key"}})
        if model == "moved":
            return self.answer(307, b"", {"Location": "/v1/embeddings"})
        if model == "garbage":
            return self.answer(200, b"<html>")
        with LOCK:
            BATCHES.append(len(texts))
        data = [{"index": i, "embedding": vector(text)} for i, text in enumerate(texts)][::-1]
        self.spoil(model, data)
        self.answer(200, {"object": "list", "data": data, "model": model})

    def spoil(self, model, data):
        if model == "few":
            data.pop()
        if model == "twice":
            data.append(data[0])
            data.pop(1 if len(data) > 2 else 0)
            data[0]["index"] = data[-1]["index"] = 0
        if model == "ragged":
            data[0]["embedding"].append(1)
        if model == "words":
            data[0]["embedding"][0] = "many"
        if model == "zero":
            data[0]["embedding"] = [0, 0, 0, 0]
        if model == "unnumbered":
            del data[0]["index"]


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
