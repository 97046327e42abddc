"""One corpus: run, compared, and made smaller if it differs."""
import collections
import copy
import dataclasses
import pathlib
import re
import shlex
import shutil
import tempfile
import traceback

from . import check, program, reference
from .corpora import make_corpus


@dataclasses.dataclass
class Found:
    difference: str = None
    tags: tuple = ()  # what the corpus tried, for the totals
    pairs: int = 0  # that are alike by MinHash, where the program may miss some
    missed: int = 0  # of these, that it did not find
    certain: bool = True  # the candidates were to be all pairs


class Totals:
    """Totals over all corpora of a run."""

    def __init__(self):
        self.counts = collections.Counter()
        self.differences = 0
        self.pairs = collections.Counter()
        self.missed = collections.Counter()

    def add(self, found):
        self.counts.update(found.tags)
        self.counts["corpora"] += 1
        self.differences += found.difference is not None
        self.pairs[found.certain] += found.pairs
        self.missed[found.certain] += found.missed

    def allowed(self, certain):
        """At the threshold one pair in a hundred may be missed; if all pairs are candidates, one in some thousands."""
        share = 1 / 4_000 if certain else 1 / 100
        return self.pairs[certain] * share + 4 * (self.pairs[certain] * share) ** 0.5

    def verdict(self):
        return int(self.differences > 0 or any(self.missed[c] > self.allowed(c) for c in (True, False)))

    def __str__(self):
        tried = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
        missed = "; ".join(f"{self.missed[c]} of {self.pairs[c]} pairs missed with {'all pairs as' if c else 'chosen'} "
                           f"candidates (at most {self.allowed(c):.0f} may be)" for c in (True, False))
        return f"{tried}\n{missed}\n{self.differences} differences"


def tags_of(corpus, result):
    s = corpus.settings
    tags = [f"by {detector}" for detector in s.detectors] + [f"keep {s.keep[0]}", f"group {s.group}"]
    tags += [f"by {s.cut[0]}"] if s.cut else []
    tags += ["against"] if s.against and s.contains is None else ["contains"] if s.against else []
    tags += ["contains with shared runs"] if corpus.shared_runs else []
    tags += ["skip-seen"] if s.seen is not None else []
    tags += ["unverified"] if s.verify == "none" else []
    tags += [f"inputs by {corpus.inputs}"]
    tags += ["tag"] if s.tag is not None else []
    tags += sorted({f"from {file.kind}" for file in corpus.files})
    names = {None: "nothing", "-": "stdout", "clean/": "folder"}
    tags += ["to " + (names[corpus.output] if corpus.output in names else pathlib.Path(corpus.output).suffixes[0])]
    return tuple(tags + (["refused"] if result.error else []))


def may_fail(corpus, error):
    """Whether the documents say that a run over this corpus fails."""
    records, references = check.records_of(corpus.files), check.records_of(corpus.references)
    first = corpus.settings.fields[0]
    if corpus.references and f'no reference has a field "{first}"' in error:
        return not any(record.field(first) is not None for record in references)
    if not records:
        return any(why in error for why in ("there are no records", "no record could be read", "which does not exist"))
    columns = corpus.settings.fields + [name for name in (corpus.settings.id, corpus.settings.keep[1]) if name]
    absent = [name for name in columns if not any(record.field(name) is not None for record in records)]
    return any(f'"{name}"' in error for name in absent)


def compare(corpus, kindred, folder):
    """Runs the program on a corpus and compares."""
    result = program.run(corpus, folder, kindred)
    found = Found(tags=tags_of(corpus, result), certain=corpus.exhaustive)
    if result.error:
        found.difference = None if may_fail(corpus, result.error) else result.error
        return found
    expected = check.expect(corpus)
    found.pairs = sum(removal.method == "minhash" for removal in expected.removals)
    found.difference = check.check(corpus, expected, result)
    if found.difference and "minhash" in corpus.settings.detectors and corpus.settings.group == "star":
        forgive_missed(corpus, expected, result, found)
    return found


def forgive_missed(corpus, expected, result, found):
    """Counts the pairs that the sketches missed. With these pairs left out of the reference, all must be as expected."""
    removed = result.removed
    if removed is None:  # no log was wanted
        removed = [dict(member, duplicate_of_row_id=group["kept_row_id"], duplicate_of_reference=group.get("reference"))
                   for group in result.groups or [] for member in group["members"]]
    kept_of = {(False, line["row_id"]): (bool(line.get("duplicate_of_reference")), line["duplicate_of_row_id"])
               for line in removed if line.get("method") not in ("contains", "seen")}
    gone = {line["row_id"] for line in removed if line.get("method") in ("contains", "seen")}
    references = expected.references if corpus.settings.contains is None else []
    inputs = [record for record in expected.inputs if record.row not in gone]
    missed = reference.missed_pairs(inputs, references, corpus.settings, kept_of)
    if missed and check.check(corpus, check.expect(corpus, missed), result) is None:
        found.difference, found.missed = None, len(missed)


def attempt(corpus, kindred, folder=None):
    """compare() in `folder`, or in one that is removed. An output that cannot be read is a difference too."""
    own = folder or pathlib.Path(tempfile.mkdtemp(prefix="kindred-differential-"))
    try:
        return compare(corpus, kindred, own)
    except Exception:
        return Found(traceback.format_exc())
    finally:
        if folder is None:
            shutil.rmtree(own)


def try_seed(seed, kindred):
    return attempt(make_corpus(seed), kindred)


def without(corpus, which, file, item):
    smaller = copy.deepcopy(corpus)
    del getattr(smaller, which)[file].items[item]
    return smaller


def smaller_corpora(corpus):
    """The corpus without one record, for every record; then with half of a text."""
    for which in ("files", "references"):
        for number, file in enumerate(getattr(corpus, which)):
            for item in reversed(range(len(file.items))):
                yield without(corpus, which, number, item)
    for which in ("files", "references"):
        for number, file in enumerate(getattr(corpus, which)):
            for item in range(len(file.items)):
                for column, value in file.items[item].columns.items():
                    if not isinstance(value, str) or len(value) < 2 or column in ("when", "rank"):
                        continue
                    for half in (value[:len(value) // 2], value[len(value) // 2:], value[:-1], value[1:]):
                        shorter = copy.deepcopy(corpus)
                        getattr(shorter, which)[number].items[item].columns[column] = half
                        yield shorter


def kind_of(difference):
    """The kind of a difference: its text without figures and values."""
    return re.split(r"[0-9{\[\"']| is ", difference or "", maxsplit=1)[0] if difference else None


def shrink(corpus, kindred, tries=600):
    """The smallest corpus that still differs in the same way, as far as some hundred tries find one."""
    wanted = kind_of(attempt(corpus, kindred).difference)
    differs = wanted is not None
    while differs and tries > 0:
        differs = False
        for smaller in smaller_corpora(corpus):
            tries -= 1
            if tries < 0:
                break
            if kind_of(attempt(smaller, kindred).difference) == wanted:
                corpus, differs = smaller, True
                break
    return corpus


def leave(corpus, kindred):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"kindred-differs-{corpus.seed}-"))
    found = attempt(corpus, kindred, folder)
    print(f"cd {folder} && {shlex.join(program.command(corpus, kindred))}")
    print(found.difference or f"no difference ({found.missed} pairs missed)")
    return found


def report(seed, kindred):
    """Prints a difference and keeps the smallest corpus that shows it."""
    leave(shrink(make_corpus(seed), kindred), kindred)


def show(seed, kindred):
    corpus = make_corpus(seed)
    found = leave(corpus, kindred)
    if found.difference:
        print("\nmade smaller:")
        leave(shrink(corpus, kindred), kindred)
    return int(found.difference is not None)
