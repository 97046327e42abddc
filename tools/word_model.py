#!/usr/bin/env python3
"""Writes the vectors of a wink-embeddings JSON file as words.kwv, which src/embed/files/word_vectors.cc reads.

usage: word_model.py FILE.json OUTPUT

Takes the words that are words to Kindred too: letters and digits, folded. Needs libxxhash.so.0. The
format is in docs/formats.md.
"""
import array
import ctypes
import struct
import sys
import unicodedata

from word_list import words_of
from word_vectors import arrays_of

MAGIC, VERSION, TERMS_VERSION = b"KWVE", 1, 1
CHECKSUM_SEED = 0x6B696E64726564

xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits_withSeed
xxh3.restype = ctypes.c_uint64
xxh3.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def key_of(word):
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold()).encode()
    return xxh3(folded, len(folded), 0)


def rows_of(path, words):
    """(key, rank, scale, row of bytes) of each word, the most frequent first."""
    known = set()
    for entry in arrays_of(path):
        *values, _, rank = map(float, entry.split(","))
        word = words[int(rank)]
        key = key_of(word)
        if not word.isalnum() or key in known:
            continue
        known.add(key)
        scale = max(map(abs, values)) / 127 or 1.0
        yield key, int(rank), scale, struct.pack(f"{len(values)}b", *(round(value / scale) for value in values))


def little(kind, values):
    numbers = array.array(kind, values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def main():
    path, output = sys.argv[1], sys.argv[2]
    rows = sorted(rows_of(path, words_of(path)))
    if not rows:
        sys.exit(f"word_model.py: {path} has no vectors")
    dimension = len(rows[0][3])
    body = struct.pack("<4sHHII", MAGIC, VERSION, TERMS_VERSION, dimension, len(rows))
    body += little("Q", (row[0] for row in rows))
    body += little("I", (row[1] for row in rows))
    body += little("f", (row[2] for row in rows))
    body += b"".join(row[3] for row in rows)
    with open(output, "wb") as file:
        file.write(body + struct.pack("<Q", xxh3(body, len(body), CHECKSUM_SEED)))


if __name__ == "__main__":
    main()
