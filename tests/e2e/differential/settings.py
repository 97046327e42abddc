"""The options of a run, and its records."""
import dataclasses


@dataclasses.dataclass
class Settings:
    """The options of `kindred dedup` that can change the removals. None: not given."""
    fields: list = dataclasses.field(default_factory=lambda: ["text"])
    detectors: tuple = ("exact", "minhash")
    threshold: float = 0.8
    shingle: tuple = ("word", 5)
    normalize: str = None
    verify: str = "exact"  # or "none"
    bands: tuple = (128, 1)  # that decide without verification
    hamming: int = 3
    chunk: tuple = ("fixed", 512)
    keep: tuple = ("first", None)
    group: str = "star"
    id: str = None
    against: bool = False
    contains: float = None
    contains_words: int = 8
    tag: str = None
    seen: list = None  # ids of the set of --skip-seen
    cut: tuple = None  # ("lines", 1), ("paragraphs", 1), ("words", N), ("bytes", N)
    repeats: int = 2
    repeats_keep: str = "first"
    min_length: str = "20"
    skip: bool = False  # --on-error skip

    @property
    def preset(self):
        """The normalisation of words, lines and passages in comparisons."""
        return self.normalize or "standard"


@dataclasses.dataclass
class Record:
    """One record that can be read: its place, and its columns as text. A column may be missing, or None for null."""
    row: int  # over all files of its kind, skipped ones counted
    file: str  # as the audit log names it
    columns: dict
    reference: bool = False

    def field(self, name):
        """The text of a column or path; None if it is null or missing."""
        if name in self.columns:
            return as_text(self.columns[name])
        values = [self.columns]
        for part in name.split("."):
            through = part.endswith("[]")
            found = [v[part.removesuffix("[]")] for v in values if isinstance(v, dict) and part.removesuffix("[]") in v]
            values = [each for v in found if isinstance(v, list) for each in v] if through else found
        texts = [text for text in map(as_text, values) if text is not None]
        return "\n".join(texts) if texts else None

    def texts(self, settings):
        return [self.field(name) for name in settings.fields]

    def text(self, settings):
        """The fields joined by line breaks; None if all are null."""
        present = [text for text in self.texts(settings) if text is not None]
        return "\n".join(present) if present else None


def as_text(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    assert isinstance(value, (int, Literal)), value
    return str(value)


class Literal(str):
    """A number that keeps its spelling, such as 1.50."""
