"""Cuts by brute force: every window of units is compared with every other."""
import dataclasses
import re

from . import words

SPACE = b" \t\n\v\f\r"


@dataclasses.dataclass
class Unit:
    begin: int  # bytes of the field
    end: int
    key: object  # by which it is compared; None if it is never cut


def units_of(text, settings):
    """The lines, paragraphs, words or bytes of a field, which is bytes of UTF-8."""
    kind = settings.cut[0]
    if kind == "bytes":
        return [Unit(i, i + 1, text[i]) for i in range(len(text))]
    if kind == "words":
        return word_units(text)
    ranges = line_ranges(text)
    if kind == "paragraphs":
        ranges = paragraphs(text, ranges)
    return [Unit(begin, end, line_key(text[begin:end].decode(), settings)) for begin, end in ranges]


def word_units(text):
    plain = text.decode()
    offsets = [0]
    for c in plain:
        offsets.append(offsets[-1] + len(c.encode()))
    return [Unit(offsets[begin], offsets[end], plain[begin:end]) for begin, end in words.split_words(plain, "none")]


def line_ranges(text):
    """Lines without their line feeds, and without a carriage return in front of one."""
    ranges, begin = [], 0
    lines = text.split(b"\n") if text else []
    for number, line in enumerate(lines):
        ended = number + 1 < len(lines)
        ranges.append((begin, begin + len(line) - (ended and line.endswith(b"\r"))))
        begin += len(line) + 1
    return ranges


def paragraphs(text, lines):
    found, inside = [], False
    for begin, end in lines:
        blank = not text[begin:end].strip(SPACE)
        if not blank and inside:
            found[-1] = (found[-1][0], end)
        elif not blank:
            found.append((begin, end))
        inside = not blank
    return found


def line_key(line, settings):
    normal = words.normalize(line, settings.preset)
    if not normal:
        return None
    if settings.min_length.endswith("w"):
        long_enough = len(words.split_words(normal, settings.preset)) >= int(settings.min_length[:-1])
    else:
        long_enough = len(normal) >= int(settings.min_length)
    return normal if long_enough else None


@dataclasses.dataclass
class Field:
    record: object
    name: str
    text: bytes
    units: list
    cut: set = dataclasses.field(default_factory=set)  # numbers of units

    def ranges(self, settings):
        """The bytes that are cut: intervals of units, each with the white space on one side of it."""
        intervals = []
        for number in sorted(self.cut):
            if intervals and intervals[-1][1] == number:
                intervals[-1][1] = number + 1
            else:
                intervals.append([number, number + 1])
        ranges = [self.bytes_of(*interval, settings.cut[0]) for interval in intervals]
        return [(begin, end) for begin, end in ranges if begin < end]

    def bytes_of(self, first, last, kind):
        begin, end = self.units[first].begin, self.units[last - 1].end
        if kind == "bytes":  # whole characters
            while begin < len(self.text) and words.is_tail(self.text[begin]):
                begin += 1
            while 0 < end < len(self.text) and words.is_tail(self.text[end]):
                end -= 1
            return begin, max(begin, end)
        before = self.units[first - 1].end if first > 0 else begin
        if last == len(self.units):
            return before, end
        behind = self.units[last].begin
        breaks = self.text.count(b"\n", before, begin), self.text.count(b"\n", end, behind)
        if first > 0 and kind == "words" and breaks[1] > breaks[0]:
            return before, end
        return begin, behind

    def new_text(self, settings):
        kept, at = b"", 0
        for begin, end in self.ranges(settings):
            kept += self.text[at:begin]
            at = end
        return kept + self.text[at:]


def cut(records, settings):
    """The fields of all records in order, with the units that are cut out of each."""
    fields = []
    for record in records:
        for name, text in zip(settings.fields, record.texts(settings)):
            plain = (text or "").encode()
            fields.append(Field(record, name, plain, units_of(plain, settings)))
    length = settings.cut[1]
    places = {}
    for field in fields:
        for at in range(len(field.units) - length + 1):
            window = tuple(unit.key for unit in field.units[at:at + length])
            if None not in window:
                places.setdefault(window, []).append((field, at))
    stays = set()
    for found in places.values():
        if len(found) < settings.repeats:
            continue
        for number, (field, at) in enumerate(found):
            if number == 0 and settings.repeats_keep == "first":
                stays.update((id(field), unit) for unit in range(at, at + length))
            else:
                field.cut.update(range(at, at + length))
    for field in fields:
        field.cut = {unit for unit in field.cut if (id(field), unit) not in stays}
    return fields


def emptied(fields, settings):
    """Rows from which text was cut and only white space is left."""
    touched, left = set(), set()
    for field in fields:
        if field.ranges(settings):
            touched.add(field.record.row)
        if field.new_text(settings).strip(SPACE):
            left.add(field.record.row)
    return touched - left


def check_log(log, fields, settings):
    """The faults of a log of cuts: every passage must be cut there, and its text must be where the log says."""
    known = {(field.record.row, field.name): field for field in fields}
    gone = emptied(fields, settings)
    cuts = {}
    for line in log:
        field = known.get((line["row_id"], line["field"]))
        other = known.get((line["duplicate_of_row_id"], line["duplicate_of_field"]))
        if field is None or other is None:
            return f"names a record that is not there: {line}"
        cuts.setdefault((line["row_id"], line["field"]), []).append((line["begin"], line["end"]))
        wrong = wrong_passage(line, field, other, settings, field.record.row in gone)
        if wrong:
            return f"{wrong}: {line}"
    for key, field in known.items():
        logged = joined(cuts.get(key, []))
        if logged != joined(field.ranges(settings)):
            return f"row {key[0]}: {logged} was cut, not {joined(field.ranges(settings))}"
    order = [(line["row_id"], settings.fields.index(line["field"]), line["begin"]) for line in log]
    return None if order == sorted(order) else "is not in the order of rows"


def joined(ranges):
    """Joins ranges that touch. Ranges that overlap are not joined, so that a comparison shows them."""
    result = []
    for begin, end in ranges:
        if result and result[-1][1] == begin:
            result[-1] = (result[-1][0], end)
        else:
            result.append((begin, end))
    return result


def wrong_passage(line, field, other, settings, gone):
    begin, end = line["duplicate_of_begin"], line["duplicate_of_end"]
    text, same = field.text[line["begin"]:line["end"]], other.text[begin:end]
    try:
        if line["text"] != text.decode():
            return "another text"
        same.decode()
    except UnicodeDecodeError:
        return "cuts a character"
    if compared(text, settings) != compared(same, settings) and not ends_in_next(text, same, settings):
        return "the texts differ"
    if settings.repeats_keep == "first" and any(a < end and begin < b for a, b in other.ranges(settings)):
        return "names a text that does not stay"
    if field is other and (begin, end) == (line["begin"], line["end"]):
        return "names itself"
    expected = (field.record.file, other.record.file, gone, re.sub("words|bytes", "substring", settings.cut[0]))
    return None if expected == (line["file"], line["duplicate_of_file"], line["record_removed"],
                                line["method"]) else "file, method or record_removed"


def ends_in_next(text, same, settings):
    """Bytes are cut as whole characters: one that belongs to two passages is left out where the first is named."""
    return settings.cut[0] == "bytes" and text.startswith(same) and len(text.decode()) - len(same.decode()) == 1


def compared(text, settings):
    """A passage as it is compared: its units without the white space between them."""
    if settings.cut[0] == "bytes":
        return text
    if settings.cut[0] == "words":
        return [unit.key for unit in word_units(text)]
    if settings.preset != "none":
        return words.normalize(text.decode(), settings.preset)
    return [line.rstrip(b"\r") for line in text.split(b"\n") if line.strip(SPACE)]
