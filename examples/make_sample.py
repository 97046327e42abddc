#!/usr/bin/env python3
"""Makes examples/news.jsonl: invented short news with planted duplicates. The same file every time.

usage: make_sample.py > news.jsonl

Each record is {"id", "source", "published", "title", "text"}. What is planted, and how alike the
texts are (exact Jaccard similarity of five-word shingles), is printed to stderr. The script fails
if a planted near-duplicate is below 0.82, a near-miss is not between 0.5 and 0.78, or two texts
that were not planted reach 0.7.
"""
import itertools
import json
import random
import re
import sys
import unicodedata
from datetime import datetime, timedelta

from sample_texts import CHINESE, CLOSINGS, SOURCES, SLOTS, THAI, TOPICS

ORIGINALS = 200
REPUBLISHED = 28      # the same text at another source, later, some with another headline
EXACT = 14            # the same text at the same source
EDITED = 26           # one or two words changed
BOILERPLATE = 16      # a line added in front or behind
NEAR_MISSES = 12      # a follow-up that shares half of its text, and must stay


def shingles(text):
    """Five-word shingles; where a script has no spaces, every character is a word."""
    text = unicodedata.normalize("NFC", text).lower()
    words = re.findall(r"[\u0e00-\u0e7f\u4e00-\u9fff]|[^\W_\u0e00-\u0e7f\u4e00-\u9fff]+", text)
    return {tuple(words[i:i + 5]) for i in range(max(1, len(words) - 4))}


def similarity(a, b):
    a, b = shingles(a), shingles(b)
    return len(a & b) / len(a | b)


class Newsroom:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.clock = datetime(2024, 3, 1, 6, 0)
        self.records = []
        self.planted = []  # (kind, index of the source record, index of the copy)

    def fill(self, template, values):
        def value(match):
            kind, _, number = match.group(1).partition(":")
            key = match.group(1)
            if key not in values:
                taken = {v for k, v in values.items() if k.split(":")[0] == kind}
                values[key] = self.make(kind, number, taken)
            return values[key]
        text = re.sub(r"\{([a-z_]+(?::\w+)?)\}", value, template)
        return text[0].upper() + text[1:]

    def make(self, kind, number, taken):
        if kind in SLOTS:
            return self.random.choice([v for v in SLOTS[kind] if v not in taken])
        if kind == "n":        # a count; the suffix is its size: {n:40}
            most = int(number.rstrip("abc"))
            return f"{self.random.randint(max(2, most // 8), most):,}"
        if kind == "percent":
            return f"{self.random.randint(2, 38)} percent"
        if kind == "money":
            return f"{self.random.randint(2, 90)}.{self.random.randint(1, 9)} million crowns"
        raise KeyError(kind)

    def article(self):
        topic = self.random.choice(TOPICS)
        values = {}
        count = min(self.random.randint(4, 7), len(topic["body"]))
        chosen = sorted(self.random.sample(range(len(topic["body"])), count))
        sentences = [self.random.choice(topic["lead"])] + [topic["body"][i] for i in chosen]
        if self.random.random() < 0.5:
            sentences.append(self.random.choice(CLOSINGS))
        text = " ".join(self.fill(sentence, values) for sentence in sentences)
        return self.fill(self.random.choice(topic["title"]), values), text

    def add(self, source, title, text, published=None):
        if published is None:
            self.clock += timedelta(minutes=self.random.randint(20, 190))
            published = self.clock
        self.records.append({"source": source, "published": published, "title": title, "text": text})
        return len(self.records) - 1

    def later(self, original):
        return self.records[original]["published"] + timedelta(minutes=self.random.randint(15, 2800))

    def other_source(self, original):
        return self.random.choice([s for s in SOURCES if s != self.records[original]["source"]])

    def copy(self, kind, original, text, source=None, title=None):
        record = self.records[original]
        copy = self.add(source or record["source"], title or record["title"], text, self.later(original))
        self.planted.append((kind, original, copy))

    # --- the kinds of copies -------------------------------------------------------------------

    def republish(self, original):
        record = self.records[original]
        title = f"{record['title']}, report says" if self.random.random() < 0.4 else None
        self.copy("republished", original, record["text"], self.other_source(original), title)

    def repeat(self, original):
        self.copy("exact", original, self.records[original]["text"])

    def edit(self, original):
        """Changes words near one place, as a desk does, until the text differs a little."""
        words = self.records[original]["text"].split(" ")
        at = self.random.randrange(6, len(words) - 6)
        words[at] = self.random.choice(["officially", "reportedly", "apparently", "now", "again"])
        if len(words) > 110:
            del words[self.random.randrange(3, len(words) - 3)]
        self.copy("edited", original, " ".join(words), self.other_source(original))

    def add_boilerplate(self, original):
        record, source = self.records[original], self.other_source(original)
        line = self.random.choice([f"({source}) — {{}}", "{} Subscribe to our morning letter.",
                                   f"{{}} First published by {record['source']}.",
                                   f"{{}} © {source}, all rights reserved."])
        self.copy("boilerplate", original, line.format(record["text"]), source)

    def follow_up(self, original):
        """Another article on the same matter: much of the text, another beginning and end."""
        sentences = re.split(r"(?<=[.?!]) ", self.records[original]["text"])
        fresh = [self.fill(s, {}) for s in self.random.sample(CLOSINGS, 3)]
        for added in range(1, 4):
            text = " ".join([sentences[0], *fresh[:added], *sentences[1:]])
            if 0.5 < similarity(text, self.records[original]["text"]) < 0.78:
                break
        self.copy("near-miss", original, text, title="Update: " + self.records[original]["title"])


def write_all(room):
    for _ in range(ORIGINALS):
        title, text = room.article()
        room.add(room.random.choice(SOURCES), title, text)
    long_enough = [i for i, r in enumerate(room.records) if len(r["text"].split()) >= 75]
    needed = REPUBLISHED + EXACT + EDITED + BOILERPLATE + NEAR_MISSES
    chosen = iter(room.random.sample(long_enough, needed))
    for kind, count in ((room.republish, REPUBLISHED), (room.repeat, EXACT), (room.edit, EDITED),
                        (room.add_boilerplate, BOILERPLATE), (room.follow_up, NEAR_MISSES)):
        for original in itertools.islice(chosen, count):
            kind(original)
    for texts in (CHINESE, THAI):
        for entry in texts:
            original = room.add(room.random.choice(SOURCES), entry["title"], entry["text"])
            for kind, text in entry["copies"]:
                room.copy(kind, original, text, room.other_source(original))


def check(room):
    texts = [record["text"] for record in room.records]
    for kind, original, copy in room.planted:
        alike = similarity(texts[original], texts[copy])
        low, high = {"exact": (1, 1), "republished": (1, 1), "near-miss": (0.5, 0.78)}.get(kind, (0.82, 1))
        if not low <= alike <= high:
            sys.exit(f"{kind} of record {original} has similarity {alike:.3f}: {texts[original]}")
    related = {frozenset(pair) for _, *pair in room.planted}
    sets = [shingles(text) for text in texts]
    for a, b in itertools.combinations(range(len(texts)), 2):
        alike = len(sets[a] & sets[b]) / len(sets[a] | sets[b])
        if alike >= 0.7 and frozenset((a, b)) not in related:
            sys.exit(f"records {a} and {b} were not planted and have similarity {alike:.3f}")


def main():
    room = Newsroom(seed=2024)
    write_all(room)
    check(room)
    for kind in ("republished", "exact", "edited", "boilerplate", "near-miss"):
        values = [similarity(room.records[a]["text"], room.records[b]["text"])
                  for k, a, b in room.planted if k == kind]
        print(f"{len(values):3} {kind:12} similarity {min(values):.3f} to {max(values):.3f}", file=sys.stderr)
    room.random.shuffle(room.records)
    for number, record in enumerate(room.records):
        line = {"id": f"n{number:04}", **record, "published": record["published"].strftime("%Y-%m-%dT%H:%M:00Z")}
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()
