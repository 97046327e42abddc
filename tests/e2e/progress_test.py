"""Progress as people see it: on terminals of any width, in logs, and not at all.

Usage: progress_test.py KINDRED
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

KINDRED = sys.argv[1]
LIMIT = 600  # seconds to wait for an event; no test depends on how soon it comes
CLEAR = "\r\x1b[K"


def width(text):
    """Columns of the text on a terminal."""
    columns = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def set_size(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


class Run:
    """A run whose standard error is a terminal."""

    def __init__(self, arguments, columns, stdin=subprocess.DEVNULL):
        self.terminal, other = pty.openpty()
        # No echo and no translation, so that the bytes read are the bytes printed.
        settings = termios.tcgetattr(other)
        settings[1] &= ~termios.OPOST
        termios.tcsetattr(other, termios.TCSANOW, settings)
        set_size(other, columns)
        self.process = subprocess.Popen([KINDRED, *arguments], stdin=stdin, stdout=subprocess.PIPE,
                                        stderr=other)
        os.close(other)
        self.seen = b""

    def read(self):
        """Some more bytes; False at the end."""
        ready, _, _ = select.select([self.terminal], [], [], LIMIT)
        assert ready, f"nothing was printed for {LIMIT} seconds after {self.text()!r}"
        try:
            more = os.read(self.terminal, 65536)
        except OSError:  # Linux reports the end of a terminal so
            more = b""
        self.seen += more
        return bool(more)

    def text(self):
        return self.seen.decode("utf-8", "replace")

    def wait_for(self, predicate):
        end = time.monotonic() + LIMIT
        while not predicate(self.text()):
            assert time.monotonic() < end, f"waited in vain: {self.text()!r}"
            assert self.read(), f"the run ended early: {self.text()!r}"

    def finish(self):
        while self.read():
            pass
        self.process.stdout.read()
        assert self.process.wait(LIMIT) == 0, self.text()
        os.close(self.terminal)
        return self.text()


def check_lines(text, columns):
    # Lines at the end, such as a warning, are not progress.
    lines = text.split(CLEAR)[1:-1]
    assert lines, f"no progress was shown: {text!r}"
    for line in lines:
        assert "\n" not in line, f"a progress line breaks: {line!r}"
        assert width(line) < columns, f"{width(line)} of {columns} columns: {line!r}"
        assert not re.search(r"\b0 s left|inf|nan|-\d", line), f"nonsense: {line!r}"
        for share in re.findall(r"(\d+) %", line):
            assert int(share) <= 99, line
    return lines


def make_corpus(folder, name="corpus.jsonl", records=20000):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        for i in range(records):
            words = " ".join(f"w{(i // 2 * 31 + k * k) % 9973}" for k in range(60))
            lines = f"the same line stands in every document\n{words}"
            file.write(json.dumps({"id": i, "text": lines}) + "\n")
    return path


def test_every_width_and_detector(folder):
    # Wide characters in the names of files.
    corpus = make_corpus(folder, "新闻报道的语料库.jsonl")
    out = os.path.join(folder, "out.jsonl")
    for columns in (20, 21, 40, 80, 200):
        for by in ("exact,minhash", "simhash", "chunk", "exact,lines", "substring:20"):
            text = Run(["dedup", corpus, "-o", out, "--by", by], columns).finish()
            check_lines(text, columns)


def test_against(folder):
    corpus = make_corpus(folder)
    old = make_corpus(folder, "old.jsonl", 3000)
    out = os.path.join(folder, "out.jsonl")
    for more in ([], ["--contains", "0.9"]):
        check_lines(Run(["dedup", corpus, "-o", out, "--against", old, *more], 20).finish(), 20)


def test_resize(folder):
    source, sink = os.pipe()
    run = Run(["dedup", "-", "-o", os.path.join(folder, "out.jsonl")], 80, stdin=source)
    os.close(source)
    run.wait_for(lambda text: "starting" in text)
    set_size(run.terminal, 6)
    run.wait_for(lambda text: "star…" in text)
    narrow = len(run.text()) - len(run.text().split("star…", 1)[1])
    os.write(sink, b'{"text": "one record with some words"}\n' * 100)
    os.close(sink)
    text = run.finish()
    for line in text[narrow:].split(CLEAR)[1:-1]:
        assert width(line) < 6, f"wider than the terminal after it shrank: {line!r}"


def test_log(folder):
    """If standard error is not a terminal, a line is printed from time to time."""
    source, sink = os.pipe()
    process = subprocess.Popen([KINDRED, "dedup", "-", "-o", os.path.join(folder, "out.jsonl"),
                                "--progress-every", "0.2"],
                               stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(source)
    for _ in range(2):
        ready, _, _ = select.select([process.stderr], [], [], LIMIT)
        assert ready, "no line of progress in a log"
        line = process.stderr.readline().decode()
        assert re.fullmatch(r"kindred: starting, [\d.]+ \w+\n", line), repr(line)
    os.write(sink, b'{"text": "one record with some words"}\n')
    os.close(sink)
    rest = process.stderr.read().decode()
    assert process.wait(LIMIT) == 0
    assert "\r" not in rest and "\x1b" not in rest, repr(rest)


def test_nothing(folder):
    corpus = make_corpus(folder, records=2000)
    out = os.path.join(folder, "out.jsonl")
    command = ["dedup", corpus, "-o", out, "--progress-every", "0.001"]
    assert Run([*command, "--quiet"], 80).finish() == ""
    quiet = subprocess.run([KINDRED, *command, "--quiet"], capture_output=True, timeout=LIMIT,
                           check=True)
    assert quiet.stderr == b"" and quiet.stdout == b"", quiet
    off = subprocess.run([KINDRED, *command[:-1], "0"], capture_output=True, timeout=LIMIT,
                         check=True)
    assert off.stderr == b"", off.stderr


def main():
    for test in (test_every_width_and_detector, test_against, test_resize, test_log, test_nothing):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
        print(f"{test.__name__}: ok", flush=True)


main()
