"""Input files of a corpus: their records, and the bytes of each."""
import dataclasses
import json
import random

from . import formats
from .settings import Literal, Record

COLUMNS = {"flat": ["id", "text", "title", "when", "rank", "source"],
           "nested": ["id", "text", "meta", "messages", "when", "rank", "source"]}


@dataclasses.dataclass
class Item:
    """A record, or with `damage` bytes that are not a record."""
    columns: dict
    damage: bytes = None


def random_json(rng, value, loose):
    """JSON of a value; `loose` adds spaces and escapes that do not change it."""
    space = rng.choice(["", " ", "  ", "\t"]) if loose else " "
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict):
        inside = [f"{random_json(rng, key, False)}:{space}{random_json(rng, each, loose)}" for key, each in value.items()]
        return "{" + f",{space}".join(inside) + "}"
    if isinstance(value, list):
        return "[" + f",{space}".join(random_json(rng, each, loose) for each in value) + "]"
    return json.dumps(value, ensure_ascii=loose and rng.random() < 0.3)


def csv_value(rng, value, delimiter):
    text = "" if value is None else str(value)
    if any(c in text for c in (delimiter, '"', "\n", "\r")) or text != text.strip(" ") or rng.random() < 0.2 and text:
        return '"' + text.replace('"', '""') + '"'
    return text


@dataclasses.dataclass
class InputFile:
    name: str
    items: list
    columns: list
    style: int  # seeds the choices that say nothing
    end: str = "\n"  # of lines
    mark: bool = False  # begins with a byte order mark
    open_end: bool = False  # the last line has no end
    blanks: bool = False  # blank lines between others
    loose: bool = False

    @staticmethod
    def random(rng, name, items, shape):
        columns = list(COLUMNS[shape])
        rng.shuffle(columns)
        return InputFile(name, items, columns, rng.randrange(1 << 30), end=rng.choice(["\n", "\n", "\n", "\r\n"]),
                         mark=rng.random() < 0.05, open_end=rng.random() < 0.1, blanks=rng.random() < 0.1,
                         loose=rng.random() < 0.3)

    @property
    def kind(self):
        return formats.split_name(self.name)[1] if self.name != "standard input" else ".jsonl"

    def add_damage(self, rng):
        """Puts some lines that are not records between the records."""
        if self.kind not in (".jsonl", ".ndjson"):
            return
        for _ in range(rng.randint(0, 2)):
            line = rng.choice([b'{"text": "no end', b'{"text": "bad \xff"}', b"[1, 2]", b'{"text": "x",}', b"text",
                               b'{"a": 1} {"b": 2}'])
            self.items.insert(rng.randrange(len(self.items) + 1), Item({}, line))

    def rendered(self, item, number):
        """The bytes of a record in a text file, without the end of its line."""
        if item.damage is not None:
            return item.damage
        rng = random.Random(self.style + number)
        if self.kind in (".csv", ".tsv"):
            delimiter = "\t" if self.kind == ".tsv" else ","
            return delimiter.join(csv_value(rng, item.columns.get(name), delimiter) for name in self.columns).encode()
        return random_json(rng, item.columns, self.loose).encode()

    def seen(self, item):
        """The columns of a record as a reader of the file's format sees them."""
        if self.kind in (".csv", ".tsv"):
            values = {name: item.columns.get(name) for name in self.columns}
            return {name: "" if value is None else str(value) for name, value in values.items()}
        if self.kind == ".parquet":
            return {name: typed(item.columns.get(name), formats.TYPES[name]) for name in self.columns}
        return item.columns

    def content(self):
        """The bytes of a text file, not packed."""
        lines = [self.rendered(item, number) for number, item in enumerate(self.items)]
        end = self.end.encode()
        if self.kind == ".json":
            inner = (b"," + end).join(lines)
            data = b"[" + end + inner + end + b"]" + end
        else:
            if self.kind in (".csv", ".tsv"):
                delimiter = "\t" if self.kind == ".tsv" else ","
                lines.insert(0, delimiter.join(self.columns).encode())
            elif self.blanks:
                lines = [part for line in lines for part in (line, b"")]
            data = b"".join(line + end for line in lines)
            data = data[:-len(end)] if self.open_end and data else data
        return (b"\xef\xbb\xbf" if self.mark else b"") + data

    def write(self, folder):
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind == ".parquet":
            rows = [item.columns for item in self.items]
            rng = random.Random(self.style)
            formats.write_parquet(path, self.columns, rows, rng.choice([2048, 122880]),
                                  rng.choice(["snappy", "zstd", "gzip"]))
        else:
            path.write_bytes(formats.pack(self.content(), formats.split_name(self.name)[2]))


def typed(value, kind):
    """A value as Parquet stores it, with every field of a struct."""
    if value is None:
        return None
    if kind.startswith("STRUCT") and kind.endswith("[]"):
        return [typed(each, kind[:-2]) for each in value]
    if kind.startswith("STRUCT"):
        names = [part.split()[0].strip('"') for part in kind[len("STRUCT("):-1].split(", ")]
        return {name: value.get(name) for name in names}
    return str(value) if kind == "VARCHAR" else value


def records_of(files, reference=False):
    """The records of files in order. Rows count over all of them, damaged ones too."""
    records, row = [], 0
    for file in files:
        for item in file.items:
            if item.damage is None:
                records.append(Record(row, file.name, file.seen(item), reference))
            row += 1
    return records
