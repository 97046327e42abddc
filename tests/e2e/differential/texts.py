"""Random texts of many scripts, and copies of them that are changed a little."""
import unicodedata

BLOCKS = {
    "greek": (0x0391, 0x03CE), "cyrillic": (0x0410, 0x045F), "hebrew": (0x05D0, 0x05EA), "arabic": (0x0620, 0x0652),
    "devanagari": (0x0904, 0x094D), "hangul": (0xAC00, 0xAD00), "vietnamese": (0x1EA0, 0x1EF9),
    "turkish": (0x011E, 0x0131), "han": (0x4E00, 0x4E60), "kana": (0x3041, 0x3096), "katakana": (0x30A1, 0x30FA),
    "thai": (0x0E01, 0x0E3A), "lao": (0x0E81, 0x0EBD), "khmer": (0x1780, 0x17B3), "burmese": (0x1000, 0x103E),
    "rare han": (0x20000, 0x20040),
}
WITHOUT_SPACES = {"han", "kana", "katakana", "thai", "lao", "khmer", "burmese", "rare han"}
LATIN = ("the harbour master said on tuesday that old lighthouse would be painted white again before first ships of "
         "spring arrive nobody in village could remember a winter which lake froze twice and mail came across ice by "
         "sledge Brücke façade Straße œuvre naïve São Łódź İstanbul ISPARTA Σίσυφος 42 3.14 1,000 x86-64 don't e-mail "
         "C++").split()
PUNCTUATION = [",", ".", "!", "?", ";", " -", "…", "\u00a0", "'", ")", "、", "。", "\u200b", "€", "☃", "🙂", "_", "+"]
BLANKS = ["", " ", "\t", "\n", " \r\n ", "\u3000", "\u00a0", "!!!", "---", "?!", "。", "\u200b", "🙂", "𝄞"]
SHORT = ["a", "A", "a!", "one", "One", "1", "two words", "Two  words", "你", "你好", "é", "e\u0301", "İ", "i\u0307", "ß",
         "ẞ", "ﬁ", "fi", "Å", "\u212b", "K", "\u212a", "½", "１", "²", "ก็", "ที่", "क्षि", "\u0301", "a\u0301\u0323",
         "\x00", "\x1c", "\x85"]


class Vocabulary:
    """A few words of one script."""

    def __init__(self, rng):
        self.rng = rng
        script = rng.choice(["latin", "latin", "latin", *BLOCKS])
        self.space = "" if script in WITHOUT_SPACES else " "
        if script == "latin":
            self.words = rng.sample(LATIN, rng.randint(6, len(LATIN)))
            return
        first, last = BLOCKS[script]
        letters = [chr(c) for c in range(first, last + 1) if unicodedata.category(chr(c)) != "Cn"]
        longest = 1 if not self.space else 5
        self.words = ["".join(rng.choices(letters, k=rng.randint(1, longest))) for _ in range(rng.randint(6, 40))]
        if rng.random() < 0.3:
            self.words += rng.sample(LATIN, 5)

    def some(self, least, most):
        return self.rng.choices(self.words, k=self.rng.randint(least, most))


def join(rng, vocabulary, words):
    """Words with spaces, line ends and punctuation between them."""
    breaks = rng.choice([0, 0, 0.1, 0.3])
    marks = rng.choice([0, 0, 0.05, 0.2])
    text = ""
    for word in words:
        if text:
            text += rng.choice(["\n", "\n", "\r\n", "\n\n", "\r", "\t"]) if rng.random() < breaks else vocabulary.space
        text += word
        if rng.random() < marks:
            text += rng.choice(PUNCTUATION)
    return text


def edited(rng, vocabulary, words):
    """The same words except for a few."""
    words = list(words)
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        kind = rng.randrange(6)
        at = rng.randrange(len(words) + 1)
        if kind == 0:
            words[at:at] = vocabulary.some(1, 2)
        elif kind == 1 and words:
            words[at % len(words)] = rng.choice(vocabulary.words)
        elif kind == 2 and words:
            del words[at % len(words)]
        elif kind == 3:
            words += vocabulary.some(1, 3)
        elif kind == 4 and len(words) > 3:
            words[at % (len(words) - 1):][:2] = reversed(words[at % (len(words) - 1):][:2])
        elif kind == 5:
            words = words[:at] if at > len(words) // 2 else words[at:]
    return words


def disguised(rng, text):
    """The same text in other bytes: letters, spaces, composition."""
    kind = rng.randrange(8)
    if kind == 0:
        return text.upper()
    if kind == 1:
        return unicodedata.normalize("NFD", text)
    if kind == 2:
        return unicodedata.normalize("NFC", text)
    if kind == 3:
        return unicodedata.normalize("NFKC", text)
    if kind == 4:
        return text.replace(" ", rng.choice(["  ", "\n", "\u00a0", "\u2003"]))
    if kind == 5:
        return rng.choice(["", " ", "\n", "\ufeff", "«"]) + text + rng.choice(["", " ", "\n", "\r\n", ".", "»"])
    if kind == 6:
        return text.replace("\n", "\r\n")
    return text.title()


def make_texts(rng, count):
    """Texts, many of them copies, near-copies, parts and chains of others."""
    vocabularies = [Vocabulary(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    long_texts = rng.choice([8, 20, 40, 90])
    made = []  # (vocabulary, words)
    texts = []
    lines = []  # that are used again
    for _ in range(count):
        kind = rng.random()
        if kind < 0.06:
            texts.append(rng.choice(BLANKS))
        elif kind < 0.14:
            texts.append(rng.choice(SHORT))
        elif kind < 0.30 and texts:
            texts.append(rng.choice(texts))
        elif kind < 0.40 and texts:
            texts.append(disguised(rng, rng.choice(texts)))
        else:
            if kind < 0.82 and made:
                # Changes of the last text make chains: neighbours are similar, the ends are not.
                vocabulary, words = rng.choice([made[-1], rng.choice(made)])
                words = edited(rng, vocabulary, words)
            else:
                vocabulary = rng.choice(vocabularies)
                words = vocabulary.some(1, long_texts)
            made.append((vocabulary, words))
            texts.append(join(rng, vocabulary, words))
        if rng.random() < 0.25:
            texts[-1] = with_lines(rng, texts[-1], lines)
    return texts


def with_lines(rng, text, lines):
    """A text between lines or paragraphs that other texts have too."""
    if not lines or rng.random() < 0.4:
        lines.append(rng.choice([text.replace("\n", " ")[:60], "Subscribe to our newsletter today!", "short line", "-" * 30,
                                 "© 2024 All rights reserved", "Read  more about this, here and there."]))
    line = rng.choice(lines)
    end = rng.choice(["\n", "\n", "\r\n", "\n\n", "\n \n"])
    return rng.choice([line + end + text, text + end + line, line + end + line + end + text, line])


def make_texts_that_share(rng, count):
    """Texts of up to some hundred words that are pieces of one text, so that they share long runs of words, or contain others.
    Some words differ."""
    vocabularies = [Vocabulary(rng) for _ in range(rng.choice([1, 1, 2]))]
    stock = [word for vocabulary in vocabularies for word in vocabulary.some(100, 500)]
    longest = rng.choice([40, 100, 250])
    changed = rng.choice([0, 0, 0.01, 0.05])
    made = []
    for _ in range(count):
        if made and rng.random() < 0.15:
            made.append(list(rng.choice(made)))
            continue
        words = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            begin = rng.randrange(len(stock))
            words += stock[begin:begin + rng.randint(5, longest)]
        made.append([rng.choice(vocabularies[0].words) if rng.random() < changed else word for word in words])
    return [disguised(rng, text) if rng.random() < 0.1 else text
            for text in (join(rng, vocabularies[0], words) for words in made)]
