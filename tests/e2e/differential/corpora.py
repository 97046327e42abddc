"""Random corpora: files of records, and the options of `kindred dedup` for them."""
import dataclasses
import random

from .files import InputFile, Item, records_of
from .settings import Literal, Settings
from .texts import make_texts, make_texts_that_share


@dataclasses.dataclass
class Corpus:
    seed: int
    settings: Settings
    files: list  # InputFile
    references: list  # InputFile
    output: str  # a name, "DIR/", "-", or None for a dry run
    options: list  # of the command line, that change nothing of what is removed
    bands: str = None  # None: chosen by the program, which may miss some pairs
    shared_runs: bool = False  # whether texts are long, and share runs of words
    inputs: str = "names"  # how the inputs are named: by their "names", a "folder", a "glob", or on "stdin"

    @property
    def exhaustive(self):
        """Whether the program finds every pair of similar records."""
        return self.bands is not None or "minhash" not in self.settings.detectors


DATES = ["2024-03-05", "2024-03-05T00:00:00Z", "2024-03-05 01:00:00+01:00", "2023-12-31T23:59:59.5Z", "2024-02-29",
         "20240301", "1999-01-01T00:00:00-05:00", "2024-03-05T10:00", "0001-01-01"]
NUMBERS = [0, 1, 2, 2, 3, -1, 10, 9007199254740993, 9007199254740992, -9007199254740993, 100]
FRACTIONS = [Literal(text) for text in ("1.5", "1.50", "-0.25", "2e3", "0.1")]
NO_VALUES = ["", "soon", None, "2024-13-01", "12 o'clock"]


def choose_detectors(rng, settings):
    pick = rng.random()
    if pick < 0.34:
        settings.detectors = ("exact", "minhash")
    elif pick < 0.46:
        settings.detectors = rng.choice([("exact",), ("minhash",)])
    elif pick < 0.60:
        settings.detectors = rng.choice([("simhash",), ("exact", "simhash"), ("exact", "minhash", "simhash")])
    elif pick < 0.72:
        settings.detectors = rng.choice([("chunk",), ("exact", "chunk"), ("exact", "minhash", "chunk"),
                                         ("exact", "minhash", "simhash", "chunk"), ("simhash", "chunk")])
    else:
        settings.detectors = rng.choice([(), (), ("exact",), ("exact", "minhash"), ("simhash",)])
        unit = rng.choice(["lines", "paragraphs", "words", "words", "bytes"])
        length = {"words": rng.randint(2, 8), "bytes": rng.randint(8, 24)}.get(unit, 1)
        settings.cut = unit, length
        settings.repeats = rng.choice([2, 2, 2, 3, 4])
        settings.repeats_keep = rng.choice(["first", "first", "none"])
        settings.min_length = rng.choice(["20", "1", "5", "1w", "3w", "10"])


def choose_comparison(rng, settings):
    settings.threshold = rng.choice([0.8, 0.8, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0, round(rng.uniform(0.3, 1), 3)])
    settings.shingle = rng.choice([("word", 5), ("word", 5), ("word", rng.randint(1, 4)), ("word", rng.randint(1, 3)),
                                   ("char", rng.randint(1, 6))])
    settings.normalize = rng.choice([None, None, None, "none", "light", "standard", "aggressive"])
    settings.hamming = rng.choice([3, 0, 1, 5, 7])
    settings.chunk = rng.choice([("fixed", rng.randint(16, 48)), ("cdc", rng.randint(16, 80)), ("fixed", 512)])


def choose_groups(rng, settings):
    settings.group = rng.choice(["star", "star", "star", "components", "stream"])
    if settings.group != "stream":
        kind = rng.choice(["first", "first", "longest", "newest", "oldest", "priority"])
        column = {"newest": "when", "oldest": "when", "priority": "rank"}.get(kind)
        settings.keep = kind, column
    if not settings.cut and rng.random() < 0.25:
        settings.against = True
        if rng.random() < 0.4:
            settings.contains = rng.choice([0.8, 0.5, 1.0, 0.25])
            settings.contains_words = rng.choice([8, 1, 2, 3, 5])
            if rng.random() < 0.5:
                settings.detectors = ()
    if not settings.cut and rng.random() < 0.2:
        settings.tag = rng.choice(["dup_", "", "x."])
    settings.skip = rng.random() < 0.2
    settings.id = rng.choice([None, None, None, None, "rank", "source"])


def choose_fields(rng, settings, shape):
    """Which columns hold the text: flat ones, or paths into nested ones."""
    if shape == "flat":
        settings.fields = rng.choice([["text"], ["text"], ["text"], ["title", "text"]])
        return
    paths = [["text"], ["meta.title", "meta.body"], ["meta.body"]]
    if not settings.cut:
        paths += [["messages[].content"], ["messages[].content"], ["text", "messages[].content"]]
    settings.fields = rng.choice(paths)


def make_columns(rng, row, text, shape, keep_values):
    """The columns of a record, in any order; some are null or missing."""
    columns = {}
    if rng.random() < 0.9:
        columns["id"] = rng.choice([f"r{row}", f"r{row}", "same", str(row), row, -7, "", None])
    text = None if rng.random() < 0.03 else text
    if shape == "flat":
        if rng.random() < 0.97:
            columns["text"] = text if rng.random() < 0.99 else rng.choice([0, 42, -1])
        if rng.random() < 0.5:
            columns["title"] = rng.choice(["One", "Two", "", None, text])
    else:
        half = len(text or "") // 2
        columns["text"] = rng.choice([text, "constant text of all of them", None])
        columns["meta"] = rng.choice([{"title": rng.choice(["x", "y", None]), "body": text}, {"body": text}, {}, None,
                                      {"title": "x", "body": text}, {"title": "x", "body": text}])
        parts = [{"role": "user", "content": (text or "")[:half]}, {"role": "bot", "content": (text or "")[half:]}]
        columns["messages"] = rng.choice([parts, parts, parts, [], None, [{"role": "bot"}],
                                          [{"role": "user", "content": text}]])
    if rng.random() < 0.85:
        columns["when"] = rng.choice(keep_values)
    if rng.random() < 0.85:
        columns["rank"] = rng.choice(NUMBERS)
    if rng.random() < 0.8:
        columns["source"] = rng.choice(["a", "b", "ü", "", None])
    names = list(columns)
    rng.shuffle(names)
    return {name: columns[name] for name in names}


def keep_values(rng, kinds):
    """Values of one kind, or of any; text files may hold numbers where others hold dates."""
    values = rng.choice([DATES, [str(n) for n in NUMBERS], DATES + [str(n) for n in NUMBERS[:4]]])
    if ".parquet" not in kinds and rng.random() < 0.2:
        values = NUMBERS + FRACTIONS
    return values + rng.sample(NO_VALUES, 2)


def choose_kinds(rng, shape):
    kinds = [".jsonl", ".jsonl", ".jsonl", ".json", ".ndjson", ".parquet"] + ([".csv", ".tsv"] if shape == "flat" else [])
    count = rng.choice([1, 1, 1, 2, 3])
    if rng.random() < 0.75:
        kinds = [rng.choice(kinds)]
    return [rng.choice(kinds) for _ in range(count)]


def deal(rng, items, kinds, prefix, shape):
    """Files of these kinds that hold the items in order."""
    cuts = sorted(rng.randint(0, len(items)) for _ in kinds[1:])
    files = []
    for number, kind in enumerate(kinds):
        begin, end = ([0] + cuts)[number], (cuts + [len(items)])[number]
        packed = rng.choice(["", "", "", ".gz", ".bz2", ".xz", ".zst"]) if kind != ".parquet" else ""
        part = rng.choice(["", "sub/"]) if number else ""
        files.append(InputFile.random(rng, f"{prefix}/{part}{number}{kind}{packed}", items[begin:end], shape))
    return files


def choose_output(rng, kinds, settings):
    pick = rng.random()
    packed = rng.choice(["", "", ".gz", ".zst"])
    if pick < 0.06:
        return None
    if pick < 0.30 and len(kinds) > 1:
        return "clean/"
    if pick < 0.36:
        return "-"
    if pick < 0.75 and len(set(kinds)) == 1:
        return "clean" + kinds[0] + (packed if kinds[0] != ".parquet" else "")
    return "clean.jsonl" + packed


def choose_options(rng, corpus):
    options = ["--threads", str(rng.randint(1, 8))]
    if rng.random() < 0.3:
        options += ["--max-memory", rng.choice(["256MiB", "400MiB", "1GiB"])]
    if corpus.output and rng.random() < 0.2:
        options += ["--audit", "ids"]
    if corpus.output and corpus.output != "-" and rng.random() < 0.2:
        options += ["--removed", rng.choice(["gone.jsonl.gz", "gone.jsonl.zst", "gone.jsonl.xz", "gone.parquet", "none"])]
    return options


def choose_size(rng):
    return 200 if rng.random() < 0.01 else rng.choice([0, 1, 2, 3, 5, 8, 8, 12, 12, 20, 20, 30, 60])


def make_corpus(seed):
    """The corpus of a seed: the same on every machine."""
    rng = random.Random(seed)
    settings = Settings()
    choose_detectors(rng, settings)
    choose_comparison(rng, settings)
    choose_groups(rng, settings)
    shape = rng.choice(["flat", "flat", "flat", "nested"])
    choose_fields(rng, settings, shape)
    kinds = choose_kinds(rng, shape)
    references = rng.randint(1, 8) if settings.against else 0
    shared_runs = settings.contains is not None and rng.random() < 0.5
    if shared_runs:
        references = rng.randint(1, 25)
        texts = make_texts_that_share(rng, min(choose_size(rng), 30) + references)
    else:
        texts = make_texts(rng, choose_size(rng) + references)
    rng.shuffle(texts)
    values = keep_values(rng, kinds)
    items = [Item(make_columns(rng, row, text, shape, values)) for row, text in enumerate(texts)]
    corpus = Corpus(seed, settings, [], [], choose_output(rng, kinds, settings), [], shared_runs=shared_runs)
    corpus.files = deal(rng, items[references:], kinds, "in", shape)
    corpus.references = deal(rng, items[:references], [rng.choice([".jsonl", kinds[0]])], "old", shape) if references else []
    corpus.inputs = rng.choice(["names", "names", "names", "folder", "glob"])
    if corpus.inputs != "names":
        corpus.files.sort(key=lambda file: file.name.encode())
    elif len(kinds) == 1 and corpus.files[0].name.endswith(".jsonl") and corpus.output != "clean/" and rng.random() < 0.2:
        corpus.inputs, corpus.files[0].name = "stdin", "standard input"
    corpus.options = choose_options(rng, corpus)
    near = set(settings.detectors) & {"minhash", "simhash"}
    if len(near) == 1 and rng.random() < 0.15:
        settings.verify = "none"
        settings.bands = rng.choice([(3, 1), (14, 8), (20, 3), (1, 4), (64, 2)])
        corpus.bands = "%dx%d" % settings.bands
        return finish(corpus, rng)
    certain = settings.group != "star" or settings.cut or set(settings.detectors) - {"exact", "minhash"}
    if certain or rng.random() < 0.75:
        corpus.bands = "128x1"
    return finish(corpus, rng)


def choose_seen(corpus, rng):
    """Ids that earlier runs have seen: some of records here, and some others."""
    settings = corpus.settings
    if rng.random() < 0.9 or (settings.against and settings.contains is None):
        return
    ids = {record.field("id") for record in records_of(corpus.files)} - {None, ""}
    settings.id = "id"
    settings.seen = sorted(rng.sample(sorted(ids), len(ids) // 3)) + ["nobody"]


def finish(corpus, rng):
    choose_seen(corpus, rng)
    if corpus.settings.skip:
        for file in corpus.files:
            file.add_damage(rng)
    return corpus
