#!/usr/bin/env python3
"""After a kill of `kindred feeds refresh` every acknowledged item is stored, and the database is consistent.

usage: news_crash_test.py KINDRED [CYCLES]

Serves feeds that grow with every request. Each cycle polls them with `kindred feeds refresh --json`, which prints what
changed once it is durable, and kills it with SIGKILL at a random moment: after a random number of acknowledged polls.
The server holds the answers after these back until then, so the run cannot end before it is killed, however fast the
machine is. Afterwards `kindred feeds check` must find nothing, and every item that an acknowledged poll was served must
be there. CRASH_SEED draws other moments.
"""
import http.server
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

FEEDS = 6
SYLLABLES = ["ba", "lor", "min", "tek", "sa", "run", "vol", "pri", "gan", "dus", "fel", "ko"]


class Site:
    """Feeds that get a few more items at each request, and the items that each poll was served."""

    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()
        self.items = [[] for _ in range(FEEDS)]
        self.started = int(time.time()) - 40 * 86_400
        self.grows = True
        self.answers_left = None  # None: any number
        self.gate = threading.Condition()

    def hold_after(self, answers):
        """Answers that many requests, and holds the later ones until it is called with None."""
        with self.gate:
            self.answers_left = answers
            self.gate.notify_all()

    def pass_gate(self):
        with self.gate:
            self.gate.wait_for(lambda: self.answers_left is None or self.answers_left > 0)
            if self.answers_left is not None:
                self.answers_left -= 1

    def headline(self, event):
        about = random.Random(event)
        names = ["".join(about.choices(SYLLABLES, k=3)).capitalize() for _ in range(4)]
        self.rng.shuffle(names)
        return " ".join(names[:3] + self.rng.choices(["opens", "burns", "votes", "closes"], k=2))

    def document(self, feed):
        with self.lock:
            if self.grows:
                for _ in range(self.rng.randrange(1, 12)):
                    count = sum(map(len, self.items))
                    title = self.headline(count // 10 + self.rng.randrange(3))
                    self.items[feed].append((f"{feed}-{count}", title, self.started + count * 900))
            shown = list(self.items[feed])
        entries = "".join(
            f"<item><guid>{guid}</guid><title>{title}</title>"
            f"<pubDate>{time.strftime('%a, %d %b %Y %H:%M:%S +0000', time.gmtime(at))}</pubDate></item>"
            for guid, title, at in reversed(shown))
        return f"<rss version='2.0'><channel><title>Feed {feed}</title>{entries}</channel></rss>".encode()

    def serve(self):
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                name = self.path.strip("/")
                if name.isdigit():
                    site.pass_gate()
                body = site.document(int(name)) if name.isdigit() else b""
                try:
                    self.send_response(200 if body else 404)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that was killed hangs up

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_address[1]

    def served(self, feed):
        with self.lock:
            return {guid for guid, _, _ in self.items[feed]}


class Reader:
    def __init__(self, kindred, data, site, rng):
        self.kindred, self.data, self.site, self.rng = kindred, data, site, rng
        self.acknowledged = [set() for _ in range(FEEDS)]
        self.polls = 0
        self.acknowledging = threading.Condition()

    def command(self, *words):
        return [self.kindred, *words, "--data", str(self.data)]

    def run(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True)
        assert done.returncode == 0, f"kindred {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def follow(self, port):
        for feed in range(FEEDS):
            self.run("feeds", "add", f"http://127.0.0.1:{port}/{feed}", "--allow-private")
            self.acknowledged[feed] |= self.site.served(feed)

    def collect(self, process):
        """An acknowledged poll has stored at least the items that its feed had when the poll before was acknowledged."""
        shown = [self.site.served(feed) for feed in range(FEEDS)]
        for line in process.stdout:
            if not line.endswith(b"\n"):
                return
            for feed in json.loads(line).get("feeds", []):
                self.acknowledged[feed - 1] |= shown[feed - 1]
                shown[feed - 1] = self.site.served(feed - 1)
                with self.acknowledging:
                    self.polls += 1
                    self.acknowledging.notify_all()

    def kill_once(self):
        awaited = self.rng.randrange(FEEDS)
        before = self.polls
        # Two feeds of a host are polled at once, so up to two answers more may be under way.
        self.site.hold_after(awaited + self.rng.randrange(1, 3))
        process = subprocess.Popen(self.command("feeds", "refresh", "--all", "--allow-private", "--json"),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        thread = threading.Thread(target=self.collect, args=(process,))
        thread.start()
        with self.acknowledging:
            told = self.acknowledging.wait_for(lambda: self.polls - before >= awaited, timeout=600)
        assert told, f"{self.polls - before} of {awaited} polls were acknowledged"
        time.sleep(self.rng.uniform(0, 0.02))
        killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        thread.join()
        self.site.hold_after(None)
        if process.returncode == 0:
            for feed in range(FEEDS):
                self.acknowledged[feed] |= self.site.served(feed)
        return killed

    def stored(self):
        with sqlite3.connect(f"file:{self.data}/news.db?mode=ro", uri=True) as database:
            rows = database.execute("SELECT feed, guid FROM items").fetchall()
        found = [set() for _ in range(FEEDS)]
        for feed, guid in rows:
            found[feed - 1].add(guid)
        return found

    def check(self):
        self.run("feeds", "check")
        for feed, found in enumerate(self.stored()):
            lost = self.acknowledged[feed] - found
            assert not lost, f"feed {feed + 1} has lost {sorted(lost)[:5]}"
            invented = found - self.site.served(feed)
            assert not invented, f"feed {feed + 1} never had {sorted(invented)[:5]}"


def main():
    kindred = sys.argv[1]
    cycles = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    rng = random.Random(int(os.environ.get("CRASH_SEED", "1")))
    site = Site(rng)
    port = site.serve()
    killed = 0
    with tempfile.TemporaryDirectory() as scratch:
        reader = Reader(kindred, pathlib.Path(scratch) / "data", site, rng)
        reader.follow(port)
        for _ in range(cycles):
            killed += reader.kill_once()
            reader.check()
        site.grows = False
        reader.run("feeds", "refresh", "--all", "--allow-private")
        reader.check()
        stories = json.loads(reader.run("stories", "--limit", "200", "--json"))
        items = sum(map(len, reader.stored()))
        assert items == sum(len(site.served(feed)) for feed in range(FEEDS)), "items are missing"
        assert any(story["count"] > 1 for story in stories["stories"]), "nothing is grouped"
    print(f"{cycles} runs, {killed} killed before their end, {reader.polls} polls acknowledged; {items} items, none lost, "
          f"none invented, {stories['unread']} stories")
    assert killed > cycles // 3, "too few were killed in time to tell"


if __name__ == "__main__":
    main()
