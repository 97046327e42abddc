"""Datasets of shapes that once exceeded their memory budget. Made in a separate process: the peak memory of a child begins
with that of its parent."""
import bz2
import csv
import gzip
import json
import lzma
import multiprocessing
import random
import subprocess

LATIN = "Latin"
CHINESE = "Chinese"

# Shapes of a corpus: records, bytes of a text, and bytes of a column that is not compared, each from and to.
SHAPES = {
    "tiny": ((60_000, 400_000), (4, 40), (0, 0)),
    "short": ((20_000, 120_000), (200, 1_200), (0, 60)),
    "half": ((60, 400), (400_000, 600_000), (0, 0)),
    "documents": ((2, 8), (4_000_000, 24_000_000), (0, 0)),
    "lines": ((2, 6), (100, 5_000), (10_000_000, 50_000_000)),
    "mixed": ((2_000, 20_000), (20, 30_000), (0, 2_000)),
    "templates": ((3_000, 15_000), (600, 900), (0, 0)),
    "few": ((1, 40), (10, 3_000), (0, 0)),
}
# Shapes that once exceeded their budget, unchanged.
ONCE_BROKEN = {
    "longlines": ((4, 4), (100, 5_000), (47_000_000, 47_000_000)),
    "longtexts": ((6, 6), (20_000_000, 20_000_000), (0, 0)),
    "onegroup": ((207_000, 207_000), (1_000, 1_000), (0, 0)),
    "halfmega": ((400, 400), (500_000, 500_000), (0, 0)),
    "manysmall": ((400_000, 400_000), (4, 40), (0, 0)),
    "kilobytes": ((300_000, 300_000), (1_000, 1_000), (0, 0)),
}
# The largest size of a corpus is one of these.
MOST_BYTES = [15_000_000, 40_000_000, 40_000_000, 160_000_000]

TEXT_FORMATS = ["jsonl", "jsonl.gz", "jsonl.zst", "jsonl.xz", "jsonl.bz2", "json", "csv", "tsv", "csv.gz", "csv.zst"]
# By the bytes of a file: the compressions that Python or a command-line tool does fast enough.
QUICK_FORMATS = ["jsonl", "jsonl.zst", "csv", "tsv"]
# The longest line that DuckDB copies without our help.
DUCKDB_LINE = 16 << 20


def words_of(rng, script):
    """Some megabytes of words; texts are pieces of them."""
    if script == CHINESE:
        signs = [chr(rng.randrange(0x4E00, 0x9FA5)) for _ in range(3_000)]
        return "".join(rng.choice(signs) for _ in range(400_000))
    words = ["".join(rng.choice("aeioubcdfghklmnprst") for _ in range(rng.randrange(2, 11))) for _ in range(9_000)]
    return " ".join(rng.choice(words) for _ in range(400_000))


class Texts:
    """Texts of about the given length, some of them exact or near copies."""

    def __init__(self, rng, shape, script):
        self.rng, self.shape, self.words = rng, shape, words_of(rng, script)
        self.made = []
        self.template = self.piece(700).split(" ")

    def piece(self, length):
        parts = []
        while length > 0:
            begin = self.rng.randrange(len(self.words))
            parts.append(self.words[begin:begin + length])
            length -= len(parts[-1]) + 1
        return " ".join(parts)

    def next(self, lengths):
        if self.shape == "templates":
            text = list(self.template)
            for _ in range(self.rng.randrange(40)):
                text[self.rng.randrange(len(text))] = self.piece(6).strip()
            return " ".join(text)
        if self.made and self.rng.random() < 0.15:
            text = self.rng.choice(self.made)
            return text if self.rng.random() < 0.5 else text + " " + self.piece(max(1, len(text) // 50))
        text = self.piece(self.rng.randint(*lengths))
        if self.rng.random() < 0.2:
            text = text.replace(" ", "\n", 3)
        if len(self.made) < 50 or self.rng.random() < 0.01:
            self.made = self.made[-3 if len(text) > 1_000_000 else -50:] + [text]
        return text


def records(rng, shape):
    counts, lengths, others = (SHAPES | ONCE_BROKEN)[shape]
    script = CHINESE if rng.random() < 0.15 else LATIN
    texts = Texts(rng, shape, script)
    count, budget = rng.randint(*counts), rng.choice(MOST_BYTES)
    if shape in ONCE_BROKEN:
        budget = float("inf")
    for number in range(count):
        text = texts.next(lengths)
        other = texts.piece(rng.randint(*others)) if others[1] else ""
        record = {"id": f"r{number}", "text": text if rng.random() > 0.01 else None, "year": rng.randrange(1990, 2030)}
        if others[1]:
            record["other"] = other
        budget -= len(text) + len(other)
        yield record
        if budget < 0:
            return


def opened(path):
    name = str(path)
    if name.endswith(".gz"):
        return gzip.open(path, "wt", compresslevel=1, newline="")
    if name.endswith(".bz2"):
        return bz2.open(path, "wt", compresslevel=1, newline="")
    if name.endswith(".xz"):
        return lzma.open(path, "wt", preset=0, newline="")
    return open(path, "w", newline="")


def write(path, made):
    if path.name.endswith(".zst"):
        plain = path.with_name("plain." + path.name[:-4])
        write(plain, made)
        subprocess.run(["zstd", "-q", "-1", "--rm", "-f", str(plain), "-o", str(path)], check=True)
        return
    with opened(path) as file:
        if ".csv" in path.name or ".tsv" in path.name:
            write_csv(file, made, "\t" if ".tsv" in path.name else ",")
        elif path.name.endswith(".json"):
            begin = "["
            for record in made:
                file.write(begin + json.dumps(record, ensure_ascii=False))
                begin = ",\n"
            file.write("]" if begin != "[" else "[]")
        else:
            for record in made:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def write_csv(file, made, delimiter):
    writer = None
    for record in made:
        if writer is None:
            writer = csv.DictWriter(file, record.keys(), delimiter=delimiter)
            writer.writeheader()
        writer.writerow(record)
    if writer is None:
        file.write(delimiter.join(["id", "text", "year"]) + "\n")


def longest_line(path):
    with open(path, "rb") as file:
        return max(map(len, file), default=0)


class Maker:
    def __init__(self, kindred):
        self.kindred = kindred

    def make(self, path, shape, seed):
        """One file of a shape, or an empty one. Parquet is made by DuckDB, or by a run with settings of its own."""
        rng = random.Random(seed)
        made = records(rng, shape) if shape != "nothing" else iter(())
        if path.suffix != ".parquet":
            write(path, made)
            return
        lines = path.with_suffix(".source.jsonl")
        write(lines, made if shape != "nothing" else iter([{"id": "r", "text": "a", "year": 1}]))
        plain = rng.random() < 0.5 and shape not in ("nothing", "onegroup")
        if plain and longest_line(lines) < DUCKDB_LINE:
            subprocess.run([f"{self.kindred}-bench", "copy", str(lines), str(path)], check=True, stdout=subprocess.DEVNULL)
        else:
            rows = rng.choice(["300", "20000", "500000"]) if shape != "onegroup" else "500000"
            subprocess.run([self.kindred, "dedup", str(lines), "-o", str(path), "--quiet", "--removed", "none", "--by", "exact",
                            "--tag", "made_", "--row-group-size", rows, "--compression", rng.choice(["zstd", "snappy", "none"]),
                            "--max-memory", "8GiB"], check=True)
        if shape == "nothing":
            self.empty(path, lines)
        lines.unlink()

    def empty(self, path, lines):
        """Leaves the schema of a Parquet file without its only record, which is that of `lines`."""
        whole = path.with_suffix(".whole.parquet")
        path.rename(whole)
        subprocess.run([self.kindred, "dedup", str(whole), "-o", str(path), "--quiet", "--removed", "none", "--by", "exact",
                        "--against", str(lines), "--max-memory", "8GiB"], check=True)
        whole.unlink()

    def make_apart(self, path, shape, seed):
        process = multiprocessing.get_context("fork").Process(target=self.make, args=(path, shape, seed))
        process.start()
        process.join()
        if process.exitcode != 0:
            raise RuntimeError(f"{path} of shape {shape} and seed {seed} could not be made")
