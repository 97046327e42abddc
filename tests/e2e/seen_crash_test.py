#!/usr/bin/env python3
"""After a kill of `kindred seen add` the set has every id that was acknowledged, and none that was not sent.

usage: seen_crash_test.py KINDRED [CYCLES]

Each cycle streams ids into `kindred seen add --print-new`, keeps a synced log of what it prints (it prints an id only
once it is durable), kills it with SIGKILL at a random moment and looks at what is left. CRASH_SEED draws other moments.
"""
import collections
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

CYCLES_PER_SET = 10
MASK = (1 << 64) - 1


def list_names(folder):
    try:
        return set(os.listdir(folder))
    except FileNotFoundError:
        return set()


class Set:
    """A set whose writer is killed repeatedly, and the ids that it must hold."""

    def __init__(self, kindred, folder, rng, numbers):
        self.kindred, self.rng, self.numbers = kindred, rng, numbers
        self.path = folder / "set"
        self.log = open(folder / "acknowledged", "wb")
        self.sent_path = folder / "sent"
        self.acknowledged = set()
        self.sent = []  # in order, without repeats
        self.recent = rng.choice([2_000, 5_000, 20_000])

    def id_text(self, number):
        spread = (number * 0x9E3779B97F4A7C15) & MASK
        return b"%d" % spread if self.numbers else b"https://example.org/page/%d" % spread

    def next_block(self):
        """Ids to send: new ones, and one in five again."""
        lines = []
        for _ in range(2_000):
            if self.sent and self.rng.random() < 0.2:
                lines.append(self.rng.choice(self.sent))
            else:
                lines.append(self.id_text(len(self.sent)))
                self.sent.append(lines[-1])
        return b"\n".join(lines) + b"\n"

    def run_kindred(self, *arguments):
        done = subprocess.run([self.kindred, "seen", *arguments], capture_output=True, text=True)
        assert done.returncode == 0, f"kindred seen {' '.join(arguments)}: {done.stderr}"
        return done.stdout

    def start(self):
        command = [self.kindred, "seen", "add", str(self.path), "--print-new", "--quiet", "--recent", str(self.recent),
                   "--commit-every", str(self.rng.choice([1, 50, 1_000, 8_192]))]
        if self.numbers:
            command.append("--numbers")
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def feed(self, process):
        try:
            while True:
                process.stdin.write(self.next_block())
                process.stdin.flush()
        except BrokenPipeError:
            pass

    def collect(self, process, first_seen):
        """All output up to the end of the pipe; an incomplete line does not count as printed."""
        rest = b""
        while block := os.read(process.stdout.fileno(), 1 << 16):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            if not lines:
                continue
            self.log.write(b"\n".join(lines) + b"\n")
            self.log.flush()
            os.fdatasync(self.log.fileno())
            for line in lines:
                assert line not in self.acknowledged, f"{line} is new for the second time"
                self.acknowledged.add(line)
            first_seen.set()

    def wait_for_moment(self, process):
        """Some moments are random; others are when a short-lived file of a certain kind exists."""
        wait = self.rng.choice(["time", "time", "manifest", "merge"])
        until = time.monotonic() + (self.rng.uniform(0, 0.35) if wait == "time" else 1)
        known = list_names(self.path)
        while time.monotonic() < until and process.poll() is None:
            if wait == "time":
                time.sleep(0.001)
                continue
            names = list_names(self.path)
            if wait == "manifest" and any("kindred-" in name for name in names):
                return wait
            if wait == "merge" and any(name.endswith(".ids") for name in names - known):
                known = names
                if self.rng.random() < 0.5:
                    return wait
        return "time"

    def kill_once(self, moments):
        process = self.start()
        first_seen = threading.Event()
        failures = []

        def collect():
            try:
                self.collect(process, first_seen)
            except AssertionError as failure:
                failures.append(failure)
                first_seen.set()

        threads = [threading.Thread(target=self.feed, args=(process,)), threading.Thread(target=collect)]
        for thread in threads:
            thread.start()
        if self.rng.random() < 0.9:  # the others are killed while the set is being opened
            assert first_seen.wait(60) or process.poll() is not None, "nothing is acknowledged"
        moments[self.wait_for_moment(process)] += 1
        assert process.poll() is None, f"it ended by itself: {process.stderr.read().decode()}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]

    def check(self, found_leftovers):
        """The set has every acknowledged id, and none that was not sent."""
        if not (self.path / "manifest").exists() and not self.acknowledged:
            return
        left = list_names(self.path)
        self.run_kindred("verify", str(self.path))
        self.log.flush()
        seen = json.loads(self.run_kindred("check", str(self.path), self.log.name, "--json"))
        assert seen == {"seen": len(self.acknowledged), "not_seen": 0}, f"lost: {seen}"
        self.sent_path.write_bytes(b"\n".join(self.sent) + b"\n")
        held = json.loads(self.run_kindred("check", str(self.path), str(self.sent_path), "--json"))["seen"]
        ids = json.loads(self.run_kindred("stats", str(self.path), "--json"))["ids"]
        assert ids == held, f"{ids - held} ids are invented"
        # The files that a writer removes when it opens the set show what the kill interrupted.
        self.run_kindred("add", str(self.path), "/dev/null", "--quiet")
        gone = left - list_names(self.path)
        found_leftovers["manifest"] += any("kindred-" in name for name in gone)
        found_leftovers["run or merge"] += any(name.endswith(".ids") for name in gone)
        found_leftovers["log"] += any(name.endswith(".log") for name in gone)


def main():
    kindred = sys.argv[1]
    cycles = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(int(os.environ.get("CRASH_SEED", "1")))
    moments, leftovers = collections.Counter(), collections.Counter()
    acknowledged = cycle = 0
    target = None
    with tempfile.TemporaryDirectory() as scratch:
        # A slow machine acknowledges little before each kill; then more cycles follow.
        while cycle < cycles or (cycle < 20 * cycles and acknowledged <= cycles * 100):
            if cycle % CYCLES_PER_SET == 0:
                folder = pathlib.Path(scratch) / str(cycle)
                folder.mkdir()
                target = Set(kindred, folder, rng, numbers=cycle // CYCLES_PER_SET % 2 == 0)
            before = len(target.acknowledged)
            target.kill_once(moments)
            target.check(leftovers)
            acknowledged += len(target.acknowledged) - before
            cycle += 1
    print(f"{cycle} kills, {acknowledged} ids acknowledged, none lost, none invented; killed at a moment drawn: "
          f"{moments['time']}, while the manifest was replaced: {moments['manifest']}, while a run was written or "
          f"merged: {moments['merge']}; leftovers found of: {dict(leftovers)}")
    assert acknowledged > cycles * 100, "too little was acknowledged to tell"


if __name__ == "__main__":
    main()
