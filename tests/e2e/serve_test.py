#!/usr/bin/env python3
"""`kindred serve` as a user sees it: feeds are added over HTTP, stories are grouped, open pages are told of news at once,
signals end it, and a kill loses nothing that was acknowledged.

usage: serve_test.py KINDRED [CYCLES]

CYCLES (default 5) is how often it is killed. KILL_SEED draws other moments.
"""
import http.client
import http.server
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

FERRY = "Ferry Olympia stranded near Chania"
RESCUE = "Passengers of stranded ferry Olympia rescued near Chania"
TRAM = "Tram drivers strike in Lisbon"
PATIENCE = 600  # seconds that any event is waited for


class Feeds:
    """A web server on a free port whose feeds are lists of headlines."""

    def __init__(self):
        self.feeds = {}  # name: [(title, unix time)]
        feeds = self.feeds

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                items = feeds.get(self.path.strip("/"))
                body = Feeds.rss(self.path.strip("/"), items).encode() if items is not None else b"not here"
                self.send_response(200 if items is not None else 404)
                self.send_header("Content-Type", "application/rss+xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that was killed hangs up

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def rss(name, items):
        entries = "".join(
            f"<item><title>{title}</title><guid>{name}-{title}</guid>"
            f"<pubDate>{time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime(at))}</pubDate></item>"
            for title, at in items)
        return f"<rss version='2.0'><channel><title>{name}</title>{entries}</channel></rss>"

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"


class Kindred:
    """A running `kindred serve`."""

    def __init__(self, binary, folder, *options):
        port_file = folder / "port"
        port_file.unlink(missing_ok=True)
        start = time.monotonic()
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--data", str(folder / "data"), "--port-file", str(port_file),
             "--allow-private", *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not port_file.exists():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < start + PATIENCE, "it did not start"
            time.sleep(0.005)
        self.port = int(port_file.read_text())
        self.started_in = time.monotonic() - start

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Content-Type": "application/json"} if method != "GET" else {}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, json.loads(content) if content else None

    def get(self, path):
        status, content = self.ask("GET", path)
        assert status == 200, f"{path}: {status} {content}"
        return content

    def follow(self, url):
        status, content = self.ask("POST", "/api/v1/feeds", {"url": url})
        assert status == 201, f"{url}: {status} {content}"
        return content["feed"]

    def stories(self):
        """{the titles of a story: the story}."""
        return {frozenset([one["representative"]["title"], *(other["title"] for other in one["others"])]): one
                for one in self.get("/api/v1/timeline?limit=200")["stories"]}

    def end(self, by):
        start = time.monotonic()
        self.process.send_signal(by)
        code = self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code, time.monotonic() - start


class Page:
    """An open page: its stream of events, each with the moment it arrived."""

    def __init__(self, kindred):
        self.events = []
        self.connection = http.client.HTTPConnection("127.0.0.1", kindred.port, timeout=PATIENCE)
        self.connection.request("GET", "/api/v1/events")
        self.stream = self.connection.getresponse()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        kind = None
        try:
            for line in self.stream:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    self.events.append((time.monotonic(), kind, json.loads(value)))
        except (OSError, ValueError, http.client.HTTPException):
            pass

    def await_change(self):
        """The moment when an event reported a story as new or changed."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for moment, kind, data in list(self.events):
                if kind == "news" and data["changed"]:
                    return moment, data
            time.sleep(0.001)
        raise AssertionError(f"no news: {self.events}")


def milliseconds(seconds):
    return f"{1000 * seconds:.1f} ms"


def test_reading(kindred_binary, folder):
    feeds, now = Feeds(), int(time.time())
    feeds.feeds["post"] = [(FERRY, now - 7200), (TRAM, now - 3600)]
    feeds.feeds["times"] = [(RESCUE, now - 1800)]
    kindred = Kindred(kindred_binary, folder, "--no-refresh", "--refresh-gap", "0")
    print(f"started in {milliseconds(kindred.started_in)}")
    post = kindred.follow(feeds.url("post"))
    kindred.follow(feeds.url("times"))
    stories = kindred.stories()
    assert set(stories) == {frozenset([FERRY, RESCUE]), frozenset([TRAM])}, stories.keys()
    assert stories[frozenset([FERRY, RESCUE])]["sources"] == 2

    page = Page(kindred)
    while not page.stream.headers:
        time.sleep(0.001)
    feeds.feeds["post"].append(("Tram drivers end their strike in Lisbon", now - 60))
    start = time.monotonic()
    status, _ = kindred.ask("POST", f"/api/v1/feeds/{post['id']}/refresh", {})
    assert status == 202
    moment, data = page.await_change()
    print(f"a new item reaches an open page {milliseconds(moment - start)} after the refresh was asked for")
    story = kindred.get(f"/api/v1/stories/{data['changed'][0]}")["story"]
    assert story["count"] == 2, story

    times = []
    for _ in range(100):
        start = time.monotonic()
        kindred.get("/api/v1/timeline")
        times.append(time.monotonic() - start)
    print(f"timeline, with a new connection each: {milliseconds(sorted(times)[50])} median")

    before = kindred.get("/api/v1/timeline")
    code, seconds = kindred.end(signal.SIGTERM)
    print(f"SIGTERM ends it in {milliseconds(seconds)}")
    assert code == 0, code
    kindred = Kindred(kindred_binary, folder, "--no-refresh", "--refresh-gap", "0")
    assert kindred.get("/api/v1/timeline") == before
    code, _ = kindred.end(signal.SIGINT)
    assert code == 0, code


def test_polling(kindred_binary, folder):
    """Feeds of an imported list are polled without a request."""
    feeds, now = Feeds(), int(time.time())
    feeds.feeds["daily"] = [(TRAM, now - 3600)]
    kindred = Kindred(kindred_binary, folder)
    page = Page(kindred)
    opml = f"<opml version='2.0'><body><outline text='d' xmlUrl='{feeds.url('daily')}'/></body></opml>"
    connection = http.client.HTTPConnection("127.0.0.1", kindred.port, timeout=PATIENCE)
    start = time.monotonic()
    connection.request("POST", "/api/v1/opml", opml, {"Content-Type": "text/x-opml"})
    assert json.loads(connection.getresponse().read()) == {"added": 1, "already": 0, "left_out": 0}
    moment, _ = page.await_change()
    print(f"an imported feed's items reach an open page {milliseconds(moment - start)} after the import")
    assert kindred.end(signal.SIGTERM)[0] == 0


def test_kill(kindred_binary, folder, cycles):
    """A kill at any moment loses nothing that was acknowledged."""
    rng = random.Random(int(os.environ.get("KILL_SEED", "1")))
    feeds, now = Feeds(), int(time.time())
    followed, starred = set(), set()
    for cycle in range(cycles):
        kindred = Kindred(kindred_binary, folder, "--no-refresh", "--refresh-gap", "0")
        killer = threading.Timer(rng.uniform(0, 0.5), kindred.process.kill)
        try:
            for number in range(1000):
                name = f"feed-{cycle}-{number}"
                feeds.feeds[name] = [(f"{rng.getrandbits(40):x} {rng.getrandbits(40):x} happened", now - 60 * number)]
                followed.add(kindred.follow(feeds.url(name))["url"])
                story = rng.choice(kindred.get("/api/v1/timeline")["stories"])["id"]
                status, _ = kindred.ask("PATCH", f"/api/v1/stories/{story}", {"starred": True})
                assert status == 200
                starred.add(story)
                if number == 0:
                    killer.start()
        except (OSError, http.client.HTTPException, ValueError):
            pass  # it was killed in the middle of an answer
        killer.join()
        kindred.end(signal.SIGKILL)
        check_kept(kindred_binary, folder, followed, starred)
    print(f"killed {cycles} times: all of {len(followed)} feeds and {len(starred)} stars are there")


def check_kept(kindred_binary, folder, followed, starred):
    kindred = Kindred(kindred_binary, folder, "--no-refresh", "--refresh-gap", "0")
    there = {feed["url"]: feed for feed in kindred.get("/api/v1/feeds")["feeds"]}
    assert followed <= set(there), f"lost feeds: {followed - set(there)}"
    assert all(there[url]["items"] == 1 for url in followed), "a feed lost its item"
    for story in starred:
        assert kindred.get(f"/api/v1/stories/{story}")["story"]["starred"], f"story {story} lost its star"
    assert kindred.end(signal.SIGTERM)[0] == 0


def main():
    binary, cycles = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for test in (test_reading, test_polling, lambda *where: test_kill(*where, cycles)):
        with tempfile.TemporaryDirectory() as folder:
            test(binary, pathlib.Path(folder))
    print("serve holds")


if __name__ == "__main__":
    main()
