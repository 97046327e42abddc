#!/usr/bin/env python3
"""A killed `kindred feeds refresh` has every item it acknowledged, and what it kept is consistent.

usage: news_crash_test.py KINDRED [CYCLES]

Serves feeds that grow with every request. Each cycle polls them with `kindred feeds refresh --json`, which prints what
changed once it is durable, and kills it with SIGKILL at a random moment. Afterwards the
check of everything must hold, and every item that an acknowledged poll was served must be there. CRASH_SEED draws other
moments.
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
    """Feeds that have a few items more at each request, and what each poll was given."""

    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()
        self.items = [[] for _ in range(FEEDS)]
        self.started = int(time.time()) - 40 * 86_400
        self.grows = True

    def headline(self, event):
        about = random.Random(event)
        names = ["".join(about.choices(SYLLABLES, k=3)).capitalize() for _ in range(4)]
        self.rng.shuffle(names)
        return " ".join(names[:3] + self.rng.choices(["opens", "burns", "votes", "closes"], k=2))

    def document(self, feed):
        with self.lock:
            if self.grows:
                for _ in range(self.rng.randrange(12)):
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
                pass  # those who are killed hang up

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
        self.told = threading.Condition()  # that self.polls has changed, or that no more come

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
        """A poll that was told of holds what its feed had shown when the poll before it was told of, at least."""
        shown = [self.site.served(feed) for feed in range(FEEDS)]
        for line in process.stdout:
            if not line.endswith(b"\n"):
                break
            for feed in json.loads(line).get("feeds", []):
                self.acknowledged[feed - 1] |= shown[feed - 1]
                shown[feed - 1] = self.site.served(feed - 1)
                with self.told:
                    self.polls += 1
                    self.told.notify()
        with self.told:
            self.told.notify()

    def kill_once(self):
        process = subprocess.Popen(self.command("feeds", "refresh", "--all", "--allow-private", "--json"),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        thread = threading.Thread(target=self.collect, args=(process,))
        # After some polls, so that it does not matter how fast the machine is, and a moment later.
        wanted = self.polls + self.rng.randrange(FEEDS)
        thread.start()
        with self.told:
            self.told.wait_for(lambda: self.polls >= wanted or process.poll() is not None, timeout=60)
        time.sleep(self.rng.uniform(0, 0.02))
        killed = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        thread.join()
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
    assert reader.polls > cycles // 3, "too few polls were acknowledged to tell"


if __name__ == "__main__":
    main()
