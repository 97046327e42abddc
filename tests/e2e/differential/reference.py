"""Removals by brute force: every record is compared with every other, by its whole set of shingles."""
import dataclasses
import datetime
import re

from . import words

BLANK = " \t\r\n\f\v"


@dataclasses.dataclass
class Removal:
    record: object
    kept: object  # a Record
    similarity: float
    method: str
    passage: str = None


class Sketch:
    """The features by which a record is compared."""

    def __init__(self, record, settings):
        self.record = record
        self.text = text = record.text(settings)
        self.compared = text is not None and text.strip(BLANK) != ""
        self.shingles, self.simhash, self.chunks, self.units = frozenset(), None, frozenset(), None
        if not self.compared:
            return
        self.exact = tuple(map(lambda field: subject(field, settings), record.texts(settings)))
        if "minhash" in settings.detectors:
            self.units = words.units_of(text, settings.shingle[0], settings.preset)
        if {"minhash", "simhash"} & set(settings.detectors):
            self.shingles = words.shingles(text, *settings.shingle, settings.preset)
        if "minhash" in settings.detectors and settings.verify == "none" and self.shingles:
            bands, rows = settings.bands
            slots = words.minhash(self.shingles, settings.shingle[0], bands * rows)
            self.bands = [slots[band * rows:(band + 1) * rows] for band in range(bands)]
        if "simhash" in settings.detectors:
            self.simhash = words.simhash(text, settings.preset)
        if "chunk" in settings.detectors:
            plain = words.normalize(text, settings.normalize) if settings.normalize else text
            self.chunks = frozenset(words.chunks(plain, *settings.chunk))


def subject(field, settings):
    """A field as the exact detector compares it: unchanged, or normalised unless that leaves nothing."""
    if field is None or settings.normalize is None:
        return field
    return words.normalize(field, settings.normalize) or field


NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
MOMENT = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$")


def comparable(text):
    """The number or moment that a value of a keep column stands for; None if it is neither."""
    if text is None:
        return None
    if re.fullmatch(r"[12]\d{7}", text):  # the basic form of a date
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}" if is_date(text[:4], text[4:6], text[6:]) else text
    if NUMBER.match(text):
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    found = MOMENT.match(text)
    if not found or not is_date(*found.group(1, 2, 3)):
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3, 4, 5, 6))
    days = datetime.date(year, month, day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    zone = found.group(8)
    east = 0
    if zone and zone not in "Zz":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        east = (-1 if zone[0] == "-" else 1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
    return days * 86400 + hour * 3600 + minute * 60 + second + float(found.group(7) or 0) - east


def is_date(year, month, day):
    try:
        datetime.date(int(year), int(month), int(day))
        return True
    except ValueError:
        return False


def keep_value(record, settings):
    return comparable(record.field(settings.keep[1]))


def keep_key(sketch, settings):
    """Sort key that puts the record to keep first: references, then the better one, then the earlier one."""
    rule = settings.keep[0]
    record = sketch.record
    if record.reference or rule == "first":
        return (not record.reference, 0, 0, record.row)
    if rule == "longest":
        return (True, 0, -len((sketch.text or "").encode()), record.row)
    value = keep_value(record, settings)
    if value is None:
        return (True, 1, 0, record.row)
    return (True, 0, value if rule == "oldest" else -value, record.row)


class Pairs:
    """The pairs of similar records, and their methods."""

    def __init__(self, settings, missed=()):
        self.settings = settings
        self.missed = set(missed)  # pairs of rows of inputs that the sketches did not find
        self.known = {}

    def alike(self, a, b):
        """(similarity, method) of two records that are duplicates, else None. Two references are not compared."""
        if a.record.reference and b.record.reference:
            return None
        key = (id(a), id(b)) if id(a) < id(b) else (id(b), id(a))
        if key not in self.known:
            self.known[key] = self.compare(a, b)
        return self.known[key]

    def compare(self, a, b):
        if not a.compared or not b.compared:
            return None
        detectors = self.settings.detectors
        if "exact" in detectors and a.exact == b.exact:
            return 1.0, "exact"
        if not a.shingles or not b.shingles:
            return None
        if frozenset([place(a.record), place(b.record)]) in self.missed:
            return None
        similarity = words.jaccard(a.shingles, b.shingles)
        if self.settings.verify == "none":
            return self.unverified(a, b, similarity)
        if similarity < self.settings.threshold:
            return None
        if "minhash" in detectors:
            return similarity, "minhash"
        if "simhash" in detectors and bin(a.simhash ^ b.simhash).count("1") <= self.settings.hamming:
            return similarity, "simhash"
        return None


    def unverified(self, a, b, similarity):
        """A shared band or close SimHashes are enough."""
        detectors = self.settings.detectors
        if "minhash" in detectors and any(one == other for one, other in zip(a.bands, b.bands)):
            return similarity, "minhash"
        if "simhash" not in detectors:
            return None
        distance = bin(a.simhash ^ b.simhash).count("1")
        return (1 - distance / 64, "simhash") if distance <= self.settings.hamming else None


def place(record):
    return record.reference, record.row


def copies_of_references(sketches, pairs):
    """A record identical to a reference is removed for it, even if another reference is similar."""
    removals = {}
    for sketch in sketches:
        if sketch.record.reference:
            continue
        for other in sketches:
            same = other.record.reference and (sketch.units and sketch.units == other.units or
                                               pairs.alike(sketch, other) == (1.0, "exact"))
            if same:
                removals[place(sketch.record)] = Removal(sketch.record, other.record, *pairs.alike(sketch, other))
                break
    return removals


def star(sketches, pairs):
    """Best first: a record that was not removed is kept, and all similar ones are removed for it."""
    removals = {}
    for at, anchor in enumerate(sketches):
        if place(anchor.record) in removals:
            continue
        for other in sketches[at + 1:]:
            if place(other.record) in removals or other.record.reference:
                continue
            found = pairs.alike(anchor, other)
            if found:
                removals[place(other.record)] = Removal(other.record, anchor.record, *found)
    return removals


def components(sketches, pairs):
    """Transitive: the best record of a component is kept, and the others are removed for it."""
    left = list(sketches)
    removals = {}
    while left:
        group, left = [left[0]], left[1:]
        for member in group:
            joined = [other for other in left if pairs.alike(member, other)]
            group += joined
            left = [other for other in left if other not in joined]
        best = group[0]
        for member in group[1:]:
            if member.record.reference:
                continue
            found = pairs.alike(best, member)
            method = "minhash" if "minhash" in pairs.settings.detectors else "simhash"
            similarity = words.jaccard(best.shingles, member.shingles)
            if method == "simhash" and pairs.settings.verify == "none":
                similarity = 1 - bin(best.simhash ^ member.simhash).count("1") / 64
            removals[place(member.record)] = Removal(member.record, best.record, *(found or (similarity, method)))
    return removals


def chunk_duplicates(sketches, removals):
    """Removals of records whose chunks all belong to others, and the number of kept records that share a chunk."""
    anchors = {place(removal.kept) for removal in removals.values() if removal.method != "exact"}
    staying = [sketch for sketch in sketches if place(sketch.record) not in removals and sketch.chunks]
    owners = {}
    holders = {}
    for sketch in staying:
        for chunk in sketch.chunks:
            owners.setdefault(chunk, sketch)
            holders[chunk] = holders.get(chunk, 0) + 1
    found, linked = {}, 0
    for sketch in staying:
        if sketch.record.reference:
            continue
        owning = [owners[chunk] for chunk in sketch.chunks]
        if place(sketch.record) in anchors or any(owner is sketch for owner in owning):
            linked += any(holders[chunk] > 1 for chunk in sketch.chunks)
            continue
        order = lambda owner: (-owning.count(owner), not owner.record.reference, owner.record.row)
        best = min(owning, key=order)
        found[place(sketch.record)] = Removal(sketch.record, best.record, owning.count(best) / len(owning), "chunk")
    return found, linked


def longest_run(text, reference, size):
    """The length of the longest run of words in which every `size` consecutive words occur in the reference."""
    size = min(size, len(reference))
    runs = {tuple(reference[i:i + size]) for i in range(len(reference) - size + 1)}
    best = length = 0
    for i in range(len(text) - size + 1):
        length = length + 1 if tuple(text[i:i + size]) in runs else 0
        best = max(best, length)
    return best + size - 1


def contained(text, references, settings):
    """(reference, share) of the reference with the largest share in the text; None if the share is too small."""
    own = words.words_of(text, settings.preset)
    best = None
    for reference in references:
        theirs = words.words_of(reference.text(settings) or "", settings.preset)
        if not theirs:
            continue
        size = min(settings.contains_words, len(theirs))
        runs = {tuple(theirs[i:i + size]) for i in range(len(theirs) - size + 1)}
        here = {tuple(own[i:i + size]) for i in range(len(own) - size + 1)}
        share = len(runs & here) / len(runs)
        if share >= settings.contains and (best is None or share > best[1]):
            best = reference, share
    return best


@dataclasses.dataclass
class Outcome:
    removals: list  # by row
    counts: dict


def decide(inputs, references, settings, missed=()):
    """The removals among `inputs`, and the counters of the report."""
    removals = {}
    if settings.seen is not None:
        known = set(settings.seen)
        removals = {place(r): Removal(r, None, None, "seen") for r in inputs if r.field(settings.id) in known}
    asked = [record for record in inputs if place(record) not in removals]
    if settings.contains is not None:
        for record in asked:
            text = record.text(settings)
            found = contained(text, references, settings) if text is not None else None
            if found:
                removals[place(record)] = Removal(record, found[0], found[1], "contains")
        references = []
    sketches = [Sketch(record, settings) for record in [*references, *inputs] if place(record) not in removals]
    compared = sorted((s for s in sketches if s.compared), key=lambda sketch: keep_key(sketch, settings))
    pairs = Pairs(settings, missed)
    found = copies_of_references(compared, pairs)
    rest = [sketch for sketch in compared if place(sketch.record) not in found]
    found |= (components if settings.group == "components" else star)(rest, pairs)
    by_chunks, linked = chunk_duplicates(compared, found) if "chunk" in settings.detectors else ({}, 0)
    # A copy goes like the record that it is a copy of.
    for where, removal in found.items():
        other = by_chunks.get(place(removal.kept))
        if other:
            found[where] = Removal(removal.record, other.kept, other.similarity, "chunk")
    removals.update(found)
    removals.update(by_chunks)
    own = [sketch for sketch in sketches if not sketch.record.reference]
    counts = {
        "without_text": sum(record.text(settings) is None for record in asked),
        "without_words": sum(s.text is not None and not (s.compared and has_words(s, settings)) for s in own),
        "without_keep_value": sum(keep_value(record, settings) is None for record in asked) if settings.keep[1] else 0,
        "linked": linked,
    }
    return Outcome(sorted(removals.values(), key=lambda removal: removal.record.row), counts)


def has_words(sketch, settings):
    return bool(sketch.shingles) or not {"minhash", "simhash"} & set(settings.detectors)


def missed_pairs(inputs, references, settings, kept_of):
    """Pairs that are alike although both stay, or although one went for a worse record than the other.

    `kept_of` says by place for which place a record went. These are the pairs that the program's sketches missed.
    """
    sketches = [Sketch(record, settings) for record in [*references, *inputs]]
    sketches = sorted((s for s in sketches if s.compared), key=lambda sketch: keep_key(sketch, settings))
    ranks = {place(sketch.record): rank for rank, sketch in enumerate(sketches)}
    pairs = Pairs(settings)
    missed = set()
    for rank, anchor in enumerate(sketches):
        if place(anchor.record) in kept_of:
            continue
        for other in sketches[rank + 1:]:
            found = pairs.alike(anchor, other) if not other.record.reference else None
            if not found or found[1] == "exact":
                continue
            if ranks.get(kept_of.get(place(other.record)), len(sketches)) > rank:
                missed.add(frozenset([place(anchor.record), place(other.record)]))
    return missed
