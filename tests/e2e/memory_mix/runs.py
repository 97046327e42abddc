"""Random runs over random datasets, each checked against its budget and compared with a run with plenty of memory."""
import dataclasses
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess

from memory_mix import corpora

PLENTY = 16_384  # MiB
LEAST = 128
USAGE = 2  # the exit code
ESTIMATE = 1.5  # the factor that a plan may be off by where it estimates
ONLY_IN_RUNS = re.compile("very many records are alike")
REFUSAL = re.compile(r"use --max-memory (\d+)MiB or more")
MEBIBYTE = 1024

BY = ["exact,minhash", "exact,minhash", "exact,minhash", "exact", "minhash", "exact,simhash", "exact,chunk", "exact,minhash,simhash",
      "exact,minhash,chunk", "lines", "exact,paragraphs", "substring:50", "exact,minhash,substring:40"]


@dataclasses.dataclass
class Outcome:
    code: int
    said: str
    peak: float  # MiB
    digests: dict


@dataclasses.dataclass
class Case:
    seed: int
    inputs: list
    output: str
    options: list
    budget: int
    threads: int
    against: bool = False

    def __str__(self):
        return f"seed {self.seed}: {' + '.join(self.inputs)} -> {self.output} {' '.join(self.options)} --threads {self.threads}"


def choose_budget(rng):
    kind = rng.random()
    if kind < 0.25:
        return LEAST
    if kind < 0.5:
        return rng.randint(LEAST, 2 * LEAST)
    return int(LEAST * 2 ** rng.uniform(0, 4))


def choose_options(rng):
    options = ["--by", rng.choice(BY)]
    if rng.random() < 0.2:
        options += ["--keep", rng.choice(["longest", "newest:year", "priority:year"])]
    if rng.random() < 0.15:
        grouping = rng.choice(["components", "stream"])
        options += ["--group", grouping if "--keep" not in options else "components"]
    if rng.random() < 0.2:
        options += rng.choice([["--audit", "ids"], ["--removed", "none"], ["--groups", "groups.jsonl"], ["--dry-run"]])
    elif rng.random() < 0.1 and not cuts(options):
        options += ["--tag", "t_"]
    return options


def cuts(options):
    """Whether text is cut out of records, which excludes tags and references of whole records."""
    return any(cut in options[1] for cut in ("lines", "paragraphs", "substring"))


def choose_case(seed, small):
    rng = random.Random(seed)
    shapes = ["tiny", "short", "half", "mixed", "templates", "few"] if small else list(corpora.SHAPES)
    inputs = []
    for _ in range(rng.choice([1, 1, 1, 1, 2, 3])):
        shape = rng.choice(shapes)
        if inputs and rng.random() < 0.3:
            shape = "nothing"
        formats = corpora.TEXT_FORMATS if shape in ("few", "nothing", "templates") else corpora.QUICK_FORMATS
        extension = "parquet" if rng.random() < 0.45 else rng.choice(formats)
        inputs.append(f"{shape}{len(inputs)}.{extension}")
    output = rng.choice(["out.jsonl", "out.jsonl.zst", "out.csv", "out.parquet", "out.jsonl.gz", "out/"])
    if rng.random() < 0.5:
        output = "out." + inputs[0].split(".", 1)[1]
    options = choose_options(rng)
    against = rng.random() < 0.15
    if against:
        contains = rng.random() < 0.5 or cuts(options)
        options += ["--against", "reference.jsonl"] + (["--contains", "0.8"] if contains else [])
    return Case(seed, inputs, output, options, choose_budget(rng), rng.choice([1, 2, 2, 3, 4, 8, 16, 64]), against)


def cases_once_broken():
    """Runs that once exceeded their budget, or took far too long."""
    default = ["--by", "exact,minhash"]
    return [
        Case(1, ["longlines.jsonl"], "out.jsonl", default, 128, 2),
        Case(2, ["longtexts.jsonl"], "out.jsonl", default, 128, 2),
        Case(3, ["onegroup.parquet"], "out.parquet", default, 256, 2),
        Case(4, ["halfmega.parquet"], "out.parquet", default, 256, 2),
        Case(5, ["onegroup.jsonl"], "out.jsonl", default, 128, 64),
        Case(6, ["halfmega.jsonl"], "out.parquet", default, 128, 2),
        Case(7, ["manysmall.jsonl"], "out.jsonl", default, 128, 2),
        Case(8, ["kilobytes.parquet"], "out.parquet", default, 128, 2),
        # Three rows, one of which has nearly all the bytes.
        Case(9145329, ["lines0.parquet"], "out.jsonl.zst", default, 128, 2),
        # Rows of 40 MB that two threads of DuckDB converted at a time.
        Case(4365542, ["few0.parquet", "short1.parquet", "lines2.parquet"], "out.jsonl", ["--by", "exact,minhash,simhash"], 128, 2),
        # Row groups by the average length of a record, where most long records are in one file.
        Case(7000008, ["few0.jsonl.zst", "short1.parquet", "tiny2.jsonl"], "out.parquet", ["--by", "exact,minhash,chunk", "--tag", "t_"], 128, 8),
        # 80,000 references, most of which are in each record: it kept to its budget, and took 17 minutes.
        Case(7000168, ["half0.tsv"], "out.tsv",
             ["--by", "exact,paragraphs", "--keep", "newest:year", "--against", "reference.jsonl", "--contains", "0.8"], 154, 2, True),
        # Records of half a megabyte, of which DuckDB's reader of JSON gave 32 MiB at a time.
        Case(14408668, ["half0.csv", "few1.parquet", "mixed2.csv"], "out.parquet", ["--by", "lines"], 161, 4),
        # Documents of 24 MB that several threads split into words at a time.
        Case(14408713, ["documents0.jsonl.zst", "nothing1.jsonl.zst"], "out.jsonl.zst",
             ["--by", "substring:50", "--keep", "newest:year"], 226, 3),
        # Records of half a megabyte from Parquet, all rows of which DuckDB joined to one vector before it wrote them as JSON.
        Case(1365453, ["half0.parquet"], "out.jsonl", ["--by", "lines", "--keep", "priority:year"], 239, 16),
        # Records of 50 MB in CSV: each of twelve threads kept the text that it had converted last.
        Case(5530722, ["lines0.csv", "tiny1.csv", "lines2.tsv"], "out.csv",
             ["--by", "exact,minhash,chunk", "--keep", "longest", "--tag", "t_"], 454, 64),
    ]


class Runs:
    def __init__(self, kindred, folder):
        self.kindred, self.folder = kindred, pathlib.Path(folder)
        self.maker = corpora.Maker(kindred)

    def make(self, case):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for number, name in enumerate(case.inputs):
            shape = re.match("[a-z]+", name).group()
            self.maker.make_apart(self.folder / name, shape, case.seed * 10 + number)
        if case.against:
            self.maker.make_apart(self.folder / "reference.jsonl", random.Random(case.seed).choice(["few", "short"]),
                                  case.seed * 10)

    def command(self, verb, case, budget, threads):
        return [self.kindred, verb, *case.inputs, "-o", case.output, "--max-memory", f"{budget}MiB", "--threads", str(threads),
                *case.options]

    def plan(self, case, budget, threads):
        """Its standard error, and its output, which names a budget for an estimated number of records; None if it does not
        know the options."""
        done = subprocess.run(self.command("plan", case, budget, threads), cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        return (done.stderr.strip(), done.stdout) if done.returncode != USAGE else None

    def dedup(self, case, budget, threads):
        before = set(os.listdir(self.folder))
        process = subprocess.Popen(self.command("dedup", case, budget, threads) + ["--quiet"], cwd=self.folder,
                                   stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        digests = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.relative_to(self.folder).parts[0] not in before:
                digests[str(path.relative_to(self.folder))] = digest(path)
        for name in set(os.listdir(self.folder)) - before:
            path = self.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return Outcome(os.waitstatus_to_exitcode(status), said.strip(), usage.ru_maxrss / MEBIBYTE, digests)


def check_plan(said, refusal, finding):
    """A plan names the budget that the run names, except where only the run can know it."""
    if said is None:
        return
    errors, estimate = said
    named = REFUSAL.search(errors)
    if named and int(named.group(1)) != finding.refused:
        finding.wrong.append(f"plan and run name other budgets: {errors} / {refusal}")
    estimated = REFUSAL.search(estimate)
    if estimated and not finding.refused / ESTIMATE < int(estimated.group(1)) < finding.refused * ESTIMATE:
        finding.wrong.append(f"the plan's estimate is far off: {estimated.group()} / {refusal}")
    if not named and not estimated and not ONLY_IN_RUNS.search(refusal):
        finding.wrong.append(f"the plan foresees no refusal: {refusal}")


def is_sanitized(kindred):
    """Sanitizers use memory of their own, which budgets do not count."""
    return subprocess.run(["grep", "-q", "__asan_init", kindred], check=False).returncode == 0


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest() if hasattr(hashlib, "file_digest") else slow_digest(file)


def slow_digest(file):
    state = hashlib.blake2b()
    while piece := file.read(1 << 20):
        state.update(piece)
    return state.hexdigest()


@dataclasses.dataclass
class Finding:
    """The figures of a case, and its faults."""
    case: Case
    ratio: float = 0.0
    refused: int = 0  # MiB that it was told to use, 0 if it was not
    wrong: list = dataclasses.field(default_factory=list)

    def judge(self, outcome, budget):
        share = outcome.peak / budget
        self.ratio = max(self.ratio, share)
        if share > 1:
            self.wrong.append(f"{outcome.peak:.1f} MiB held of {budget} ({'done' if outcome.code == 0 else outcome.said})")


def try_case(runs, case):
    runs.make(case)
    finding = Finding(case)
    plenty = runs.dedup(case, PLENTY, 2)
    budget = case.budget
    outcome = runs.dedup(case, budget, case.threads)
    finding.judge(outcome, budget)
    if plenty.code != 0:
        finding.wrong.append(f"failed with plenty: {plenty.said}")
        return finding
    if outcome.code != 0:
        figure = REFUSAL.search(outcome.said)
        if not figure or outcome.digests:
            finding.wrong.append(f"no refusal with {budget} MiB: {outcome.code} {outcome.said} {list(outcome.digests)}")
            return finding
        finding.refused = int(figure.group(1))
        check_plan(runs.plan(case, budget, case.threads), outcome.said, finding)
        budget = finding.refused
        outcome = runs.dedup(case, budget, case.threads)
        finding.judge(outcome, budget)
        if outcome.code != 0:
            finding.wrong.append(f"{budget} MiB do not do, as was said: {outcome.said}")
            return finding
    if outcome.digests != plenty.digests:
        names = [name for name in plenty.digests | outcome.digests if plenty.digests.get(name) != outcome.digests.get(name)]
        finding.wrong.append(f"other bytes with {budget} MiB than with {PLENTY}: {', '.join(names)}")
    return finding
