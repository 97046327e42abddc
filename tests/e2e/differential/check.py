"""Compares what a run left with what the reference says. Every check returns what differs, or nothing."""
import dataclasses
import json

from . import formats, passages, reference
from .files import records_of
from .settings import as_text

SIMILARITY = 0.00006  # logs have four digits, of numbers with 24 bits


@dataclasses.dataclass
class Expected:
    inputs: list  # Record
    references: list
    removals: list  # of whole records
    counts: dict
    fields: list  # passages.Field, if something is cut
    emptied: set  # rows

    @property
    def gone(self):
        return {removal.record.row for removal in self.removals} | self.emptied


def expect(corpus, missed=()):
    settings = corpus.settings
    inputs, references = records_of(corpus.files), records_of(corpus.references, True)
    outcome = reference.decide(inputs, references, settings, missed)
    expected = Expected(inputs, references, outcome.removals, outcome.counts, [], set())
    if settings.cut:
        gone = expected.gone
        expected.fields = passages.cut([record for record in inputs if record.row not in gone], settings)
        expected.emptied = passages.emptied(expected.fields, settings)
    return expected


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= SIMILARITY)


def same(a, b, key):
    if key.endswith("similarity"):
        return near(a, b)
    return a == b and type(a) == type(b) or isinstance(a, (int, float)) and not isinstance(a, bool) and a == b


def different(what, expected, actual):
    """Compares lists of objects, in order, key by key."""
    for number, (a, b) in enumerate(zip(expected, actual)):
        if list(a) != list(b):
            return f"{what} {number}: keys {list(b)}, expected {list(a)}"
        for key in a:
            if not same(a[key], b[key], key):
                return f"{what} {number}: {key} is {b[key]!r}, expected {a[key]!r}\n  expected {a}\n  found    {b}"
    if len(expected) != len(actual):
        longer, word = (actual, "too much") if len(actual) > len(expected) else (expected, "missing")
        return f"{what}: {len(actual)}, expected {len(expected)}; {word}: {longer[min(len(expected), len(actual))]}"
    return None


def id_of(record, settings):
    return record.field(settings.id or "id")


def threshold_of(removal, settings):
    if removal.method == "simhash" and settings.verify == "none":
        return 1 - settings.hamming / 64
    return {"chunk": 0, "contains": settings.contains}.get(removal.method, settings.threshold)


def log_line(removal, corpus, texts):
    settings = corpus.settings
    seen = removal.method == "seen"
    line = {"row_id": removal.record.row, "id": id_of(removal.record, settings), "file": removal.record.file,
            "duplicate_of_row_id": None if seen else removal.kept.row,
            "duplicate_of_id": None if seen else id_of(removal.kept, settings), "field": ",".join(settings.fields)}
    if texts:
        line |= {"value": removal.record.text(settings), "matched_value": None if seen else removal.kept.text(settings)}
    line |= {"similarity": removal.similarity, "threshold": None if seen else threshold_of(removal, settings),
             "method": removal.method}
    if settings.against and (settings.contains is None or removal.method == "contains"):
        line |= {"duplicate_of_file": removal.kept.file, "duplicate_of_reference": removal.kept.reference}
    return line


def check_log(corpus, expected, result):
    if result.removed is None:
        return None
    texts = "ids" not in corpus.options
    lines = [log_line(removal, corpus, texts) for removal in expected.removals]
    for line, removal, found in zip(lines, expected.removals, result.removed):
        if texts and removal.method == "contains" and found.get("method") == "contains":
            wrong = wrong_passage(found["passage"], removal, corpus.settings)
            if wrong:
                return wrong
            line["passage"] = found["passage"]
    removed = result.removed
    if "gone.parquet" in corpus.options:  # it has a column for every field that some lines have
        removed = [{key: value for key, value in found.items() if value is not None or key in line}
                   for line, found in zip(lines, removed)] + removed[len(lines):]
    return different("audit log, line", lines, removed)


def wrong_passage(passage, removal, settings):
    """The passage must be one of the longest runs of words of the record that the reference contains."""
    preset, size = settings.preset, settings.contains_words
    own, other = (reference.words.words_of(record.text(settings), preset) for record in (removal.record, removal.kept))
    given = [passage[begin:end] for begin, end in reference.words.split_words(passage, preset)]
    inside = any(own[i:i + len(given)] == given for i in range(len(own) - len(given) + 1))
    length = reference.longest_run(own, other, size)
    if not inside or len(given) != min(length, 100) or reference.longest_run(given, other, size) != len(given):
        return f"passage of row {removal.record.row}: {passage!r}"
    return None


def groups_of(expected):
    """Removals by their kept record, in its order."""
    groups = {}
    for removal in expected.removals:
        if removal.method not in ("contains", "seen"):
            groups.setdefault(reference.place(removal.kept), []).append(removal)
    return sorted(groups.values(), key=lambda group: (not group[0].kept.reference, group[0].kept.row))


def check_groups(corpus, expected, result):
    if result.groups is None:
        return None
    lines = []
    for group in groups_of(expected):
        kept = group[0].kept
        line = {"kept_row_id": kept.row}
        if corpus.settings.against and corpus.settings.contains is None:
            line["reference"] = kept.reference
        line |= {"kept_id": id_of(kept, corpus.settings), "size": len(group) + 1}
        line["members"] = [{"row_id": r.record.row, "id": id_of(r.record, corpus.settings), "similarity": r.similarity,
                            "method": r.method} for r in group]
        lines.append(line)
    for line, found in zip(lines, result.groups):
        wrong = different(f"group of {line['kept_row_id']}, member", line["members"], found["members"])
        if wrong:
            return wrong
    plain = [[{**line, "members": None} for line in some] for some in (lines, result.groups)]
    return different("group", *plain)


def check_report(corpus, expected, result):
    settings, report = corpus.settings, result.report
    skipped = sum(item.damage is not None for file in corpus.files for item in file.items)
    removed = len(expected.gone)
    methods = [*settings.detectors, *(["contains"] if settings.contains is not None else [])]
    methods += ["seen"] if settings.seen is not None else []
    by = {method: sum(removal.method == method for removal in expected.removals) for method in methods}
    by |= {"emptied": len(expected.emptied)} if settings.cut else {}
    figures = {"documents": len(expected.inputs) + skipped, "kept": len(expected.inputs) - removed, "removed": removed,
               "removed_by": by, "skipped": skipped, "groups": len(groups_of(expected)), **expected.counts}
    if settings.cut and not settings.detectors:
        del figures["without_words"], figures["without_keep_value"]  # nothing was compared as a whole
    for name, figure in figures.items():
        if report.get(name) != figure:
            return f"report: {name} is {report.get(name)}, expected {figure}"
    return check_origins(corpus, expected, report) or check_sums(expected, report)


def check_origins(corpus, expected, report):
    """Files and sources: the records of each, and how many of them were removed or seen before."""
    seen = {removal.record.row for removal in expected.removals if removal.method == "seen"}
    gone = expected.gone - seen
    for key, name_of in (("files", lambda r: r.file), ("sources", lambda r: r.field("source"))):
        counts = {file.name: [0, 0, 0] for file in corpus.files} if key == "files" else {}
        for record in expected.inputs:
            name = name_of(record)
            if name is not None:
                count = counts.setdefault(name, [0, 0, 0])
                counts[name] = [count[0] + 1, count[1] + (record.row in gone), count[2] + (record.row in seen)]
        if key == "files":
            for file in corpus.files:
                counts[file.name][0] += sum(item.damage is not None for item in file.items)
        keys = ("name", "documents", "removed") + (("seen",) if corpus.settings.seen is not None else ())
        listed = [dict(zip(keys, [name, *count])) for name, count in counts.items()]
        order = (lambda one: one["name"].encode()) if key == "sources" else (lambda one: 0)
        wrong = different(f"report, {key}", sorted(listed, key=order), report[key])
        if wrong:
            return wrong
    return None


def check_sums(expected, report):
    """The counters add up."""
    if report["candidates"] != report["verified"] + report["false_candidates"] + report["not_needed"]:
        return f"report: {report['candidates']} candidates are not the sum of the others"
    if sum(report["removed_by"].values()) != report["removed"]:
        return "report: removed_by does not add up to removed"
    if report["kept"] + report["removed"] + report["skipped"] != report["documents"]:
        return "report: kept, removed and skipped are not all documents"
    sizes = sorted((len(group) + 1 for group in groups_of(expected)), reverse=True)
    listed = [group["size"] for group in report["largest_groups"]]
    return None if listed == sizes[:len(listed)] and (listed or not sizes) else f"report: largest groups {listed} of {sizes}"


def check_cuts(corpus, expected, result):
    if result.cuts is None:
        return None
    settings = corpus.settings
    ids = {record.row: id_of(record, settings) for record in expected.inputs}
    for line in result.cuts:
        if line["id"] != ids[line["row_id"]] or line["duplicate_of_id"] != ids[line["duplicate_of_row_id"]]:
            return f"log of cuts: ids of {line}"
    wrong = passages.check_log(result.cuts, expected.fields, settings)
    if wrong:
        return f"log of cuts: {wrong}"
    ranges = [field.ranges(settings) for field in expected.fields]
    figures = {"records": len({f.record.row for f, r in zip(expected.fields, ranges) if r}), "passages": len(result.cuts),
               "emptied": len(expected.emptied), "unverified": 0,
               "bytes": sum(end - begin for some in ranges for begin, end in some)}
    for name, figure in figures.items():
        if result.report["cut"].get(name) != figure:
            return f"report: cut.{name} is {result.report['cut'].get(name)}, expected {figure}"
    return None


def replaced(columns, path, text):
    """A copy of the columns with another text at a path."""
    copy = dict(columns)
    first, _, rest = path.partition(".")
    if path in copy or not rest:
        copy[path] = text
    else:
        copy[first] = replaced(copy[first], rest, text)
    return copy


def written_records(corpus, expected):
    """(row, columns) of the records that the outputs must hold."""
    settings = corpus.settings
    gone = expected.gone if settings.tag is None else set()
    texts = {(field.record.row, field.name): field for field in expected.fields if field.ranges(settings)}
    tags = tags_of(expected) if settings.tag is not None else {}
    rows = []
    for record in expected.inputs:
        if record.row in gone:
            continue
        columns = dict(record.columns)
        for name in settings.fields:
            if (record.row, name) in texts:
                columns = replaced(columns, name, texts[record.row, name].new_text(settings).decode())
        columns |= {settings.tag + name: value for name, value in tags.get(record.row, {}).items()}
        rows.append((record, columns))
    return rows


def tags_of(expected):
    tags = {record.row: {"group": None, "kept": True, "similarity": None, "duplicates": 0} for record in expected.inputs}
    for group in groups_of(expected):
        kept = group[0].kept
        number = -1 - kept.row if kept.reference else kept.row
        if not kept.reference:
            tags[kept.row] |= {"group": number, "duplicates": len(group)}
        for removal in group:
            tags[removal.record.row] = {"group": number, "kept": False, "similarity": removal.similarity,
                                        "duplicates": len(group)}
    for removal in expected.removals:
        if removal.method in ("contains", "seen"):
            tags[removal.record.row] |= {"kept": False, "similarity": removal.similarity}
    return tags


def shown(value, kind):
    """A value as a format shows it."""
    if kind in (".csv", ".tsv"):
        return "" if value is None else value if isinstance(value, float) else as_text(value)
    return json.loads(str(value)) if type(value).__name__ == "Literal" else value


def check_records(what, rows, found, kind, keeps_order):
    for number, ((record, columns), actual) in enumerate(zip(rows, found)):
        wanted = {name: shown(value, kind) for name, value in columns.items()}
        if kind == ".parquet":
            wanted = {name: wanted.get(name) for name in actual} | {n: v for n, v in wanted.items() if v is not None}
        ordered = list if keeps_order else sorted
        names = ordered(wanted)
        if names != ordered(actual):
            return f"{what}, record {number} (row {record.row}): columns {list(actual)}, expected {names}"
        for name in names:
            value = actual[name]
            if name.endswith("similarity") and isinstance(wanted[name], float) and value not in (None, ""):
                value = float(value)
            if not same(wanted[name], value, name):
                return f"{what}, record {number} (row {record.row}): {name} is {value!r}, expected {wanted[name]!r}"
    if len(rows) != len(found):
        return f"{what}: {len(found)} records, expected {len(rows)}"
    return None


def kept_bytes(file, rows, first):
    """The bytes of a text file with some of its rows."""
    lines = []
    end = file.end.encode()
    numbers = [number for number, item in enumerate(file.items) if first + number in rows]
    for number in numbers:
        last = number + 1 == len(file.items) and file.open_end and not (file.blanks and file.kind in (".jsonl", ".ndjson"))
        lines.append(file.rendered(file.items[number], number) + (b"\n" if last else end))
    if file.kind in (".csv", ".tsv"):
        delimiter = "\t" if file.kind == ".tsv" else ","
        header = delimiter.join(file.columns).encode()
        lines.insert(0, header + (b"\n" if file.open_end and not file.items else end))
    return b"".join(lines)


def check_file(path, corpus, files, first, rows):
    """Compares one output: its bytes if lines are copied unchanged, else its values."""
    _, kind, packed = formats.split_name(path.name)
    lines = (".jsonl", ".ndjson")
    passes = all(file.kind in lines for file in files) and kind in lines
    passes = passes or (len(files) == 1 and files[0].kind == kind and kind in (".csv", ".tsv"))
    if passes and not corpus.settings.cut and corpus.settings.tag is None:
        wanted, at = b"", first
        for file in files:
            wanted += kept_bytes(file, {record.row for record, _ in rows}, at)
            at += len(file.items)
        actual = formats.unpack(path.read_bytes(), packed)
        return None if actual == wanted else f"{path.name}: other bytes\n  expected {wanted}\n  found    {actual}"
    # Tables of several files are united, with the columns in the order of the first.
    keeps_order = kind != ".parquet" and (len(files) == 1 or all(file.kind in (".json", *lines) for file in files))
    return check_records(path.name, rows, formats.read_records(path), kind, keeps_order)


def check_outputs(corpus, expected, result):
    rows = written_records(corpus, expected)
    if corpus.output is None:
        return None
    if corpus.output == "-":
        path = result.folder / "stdout.jsonl"
        path.write_bytes(result.stdout)
        return check_file(path, corpus, corpus.files, 0, rows)
    if not corpus.output.endswith("/"):
        return check_file(result.folder / corpus.output, corpus, corpus.files, 0, rows)
    first = 0
    for file in corpus.files:
        own = [(record, columns) for record, columns in rows if record.file == file.name]
        wrong = check_file(result.folder / place_in(corpus, file), corpus, [file], first, own)
        if wrong:
            return wrong
        first += len(file.items)
    return None


def place_in(corpus, file):
    """The path of a file's output below DIR with -o DIR/: that of the file below the folder shared by all inputs."""
    names = [f.name for f in corpus.files]
    shared = "in/"
    if corpus.inputs == "names" and all(name.startswith("in/sub/") for name in names):
        shared = "in/sub/"
    return "clean/" + file.name.removeprefix(shared)


def check_quarantine(corpus, result):
    if not corpus.settings.skip or corpus.output in (None, "-"):
        return None
    damaged = [(item, file) for file in corpus.files for item in file.items if item.damage is not None]
    wanted = b"".join(item.damage + file.end.encode() for item, file in damaged)
    path = result.folder / "clean.quarantine.txt"
    actual = path.read_bytes() if path.exists() else b""
    plain = lambda data: data.replace(b"\r\n", b"\n")
    return None if plain(actual) == plain(wanted) else f"quarantine: {actual}, expected {wanted}"


def check(corpus, expected, result):
    """The first difference of a run that succeeded; None if there is none."""
    return (check_log(corpus, expected, result) or check_groups(corpus, expected, result)
            or check_cuts(corpus, expected, result) or check_report(corpus, expected, result)
            or check_outputs(corpus, expected, result) or check_quarantine(corpus, result))
