"""Words, shingles, SimHashes and chunks of texts, as docs/formats.md and the headers of src/text and src/sketch have them.

Nothing here is fast, and nothing is approximate: shingles are tuples of words, not hashes.
"""
import unicodedata

SPACES = set("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}

# Scripts written without spaces, as far as corpora here use them: first and last letters of each.
UNSPACED = [
    (0x0E00, 0x0E3E), (0x0E40, 0x0E7F),  # Thai, without the sign of its money
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007), (0x3041, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF),  # kana and signs of Han
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2A6DF), (0xFF66, 0xFF9D),
]


def is_word_character(c):
    return unicodedata.category(c)[0] in "LMN"


def is_mark(c):
    return unicodedata.category(c)[0] == "M"


def is_unspaced(c):
    """A letter of a script without spaces. A mark without a letter before it is not one: it belongs to the word after it."""
    return is_word_character(c) and not is_mark(c) and any(first <= ord(c) <= last for first, last in UNSPACED)


def squeeze(text):
    """Runs of white space as one space, none at the ends."""
    spaced = "".join(" " if c in SPACES else c for c in text)
    return " ".join(part for part in spaced.split(" ") if part)


def normalize(text, preset):
    if preset == "none":
        return text
    if preset == "light":
        return squeeze(unicodedata.normalize("NFC", text))
    form = "NFC" if preset == "standard" else "NFKD"
    while True:  # normalising again changes nothing
        before = text
        text = unicodedata.normalize(form, text)
        text = "".join(c.lower()[0] for c in text)  # the simple mapping of each character
        text = unicodedata.normalize(form, text)
        if preset == "aggressive":
            text = "".join(c for c in text if not 0x300 <= ord(c) <= 0x36F)
        text = squeeze("".join(c if is_word_character(c) else " " for c in text))
        if text == before:
            return text


def split_words(text, preset):
    """The words of a text without normalisation, each with its first character and the one after its last."""
    by_letters = preset in ("standard", "aggressive")
    words = []
    begin = None  # of the word that is read
    alone = False  # it is one character and its marks
    for at, c in enumerate(text):
        inside = is_word_character(c) if by_letters else c not in SPACES
        mark = is_mark(c)
        starts = inside and (begin is None or (alone and not mark) or is_unspaced(c))
        if begin is not None and (starts or not inside):
            words.append((begin, at))
            begin = None
        if starts:
            begin, alone = at, is_unspaced(c)
    if begin is not None:
        words.append((begin, len(text)))
    return words


def words_of(text, preset):
    """The normalised words of a text."""
    text = normalize(text, preset)
    return [text[begin:end] for begin, end in split_words(text, preset)]


def units_of(text, unit, preset):
    """The units of shingles: words or characters; none in a text without words."""
    words = words_of(text, preset)
    return words if unit == "word" or not words else list(normalize(text, preset))


def shingles(text, unit, size, preset):
    """The set of shingles of a text: none without words, the whole text if it is shorter than a shingle."""
    units = units_of(text, unit, preset)
    if not units:
        return frozenset()
    if len(units) <= size:
        return frozenset([tuple(units)])
    return frozenset(tuple(units[i:i + size]) for i in range(len(units) - size + 1))


def jaccard(a, b):
    return len(a & b) / len(a | b) if a or b else 0.0


MASK = (1 << 64) - 1
WORD_KEYS = (0xFF51AFD7ED558CCD, 0x9FB21C651E98DF25, 0xFFA0761D6478BD65, 0xE7037ED1A0B428DB)


def mix64(x):
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ (x >> 33)


def fold_multiply(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def word_hash(word):
    rest = word.encode()
    length, state = len(rest), 0
    while len(rest) > 15:
        low, high = int.from_bytes(rest[:8], "little"), int.from_bytes(rest[8:16], "little")
        state = fold_multiply(low ^ WORD_KEYS[2] ^ state, high ^ WORD_KEYS[3])
        rest = rest[16:]
    low, high = int.from_bytes(rest[:8], "little"), int.from_bytes(rest[8:], "little")
    return fold_multiply(low ^ WORD_KEYS[0] ^ state, high ^ WORD_KEYS[1] ^ (length << 56 & MASK))


def simhash(text, preset):
    """64 bits; nothing for a text without words."""
    features = [mix64(word_hash(word)) for word in words_of(text, preset)]
    if not features:
        return None
    return sum(1 << bit for bit in range(64) if 2 * sum(f >> bit & 1 for f in features) > len(features))


SHINGLE_MULTIPLIER = 0x9E3779B97F4A7C15


def shingle_hash(shingle, unit):
    value = 0
    for each in shingle:
        hashed = word_hash(each) if unit == "word" else mix64(ord(each) ^ WORD_KEYS[0])
        value = (value * SHINGLE_MULTIPLIER + hashed) & MASK
    return value


def minhash(shingles, unit, hashes):
    """The slots of a signature."""
    values = [mix64(shingle_hash(shingle, unit)) >> 32 for shingle in shingles]
    factors = [mix64(0x6B696E6472656431 + i) >> 32 | 1 for i in range(hashes)]
    return [min(factor * value & 0xFFFFFFFF for value in values) for factor in factors]


GEAR = [mix64(0x6368756E6B73 + i) for i in range(256)]


def is_tail(byte):
    return byte & 0xC0 == 0x80


def chunk_length(rest, size):
    """The length of the first content-defined chunk of these bytes."""
    least = max(size // 4, 1)
    if len(rest) <= least:
        return len(rest)
    limit = MASK // max(size - least, 1)
    end = min(len(rest), size * 4)
    rolling = 0
    for i in range(max(0, least - 64), end):
        rolling = ((rolling << 1) + GEAR[rest[i]]) & MASK
        if i + 1 < least or rolling > limit:
            continue
        cut = i + 1
        while cut < end and is_tail(rest[cut]):
            cut += 1
        if cut < end:
            return cut
    if end == len(rest):
        return end
    back = end
    while back > 0 and is_tail(rest[back]):
        back -= 1
    return back if back > 0 else end


def chunks(text, kind, size):
    """The pieces of a text, each once."""
    if kind == "fixed":
        return {text[i:i + size] for i in range(0, len(text), size)}
    rest, pieces = text.encode(), set()
    while rest:
        length = chunk_length(rest, size)
        pieces.add(rest[:length])
        rest = rest[length:]
    return pieces
