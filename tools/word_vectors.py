#!/usr/bin/env python3
"""Writes the vectors of a wink-embeddings JSON file as little-endian 32-bit floats, row after row.

usage: word_vectors.py FILE.json DIMENSIONS OUTPUT

Rows keep the order of the file, the most frequent word first. The numbers behind a vector's
dimensions (its length and its word's rank) are left out.
"""
import array
import sys


def blocks(path):
    with open(path, encoding="utf-8") as file:
        while block := file.read(1 << 22):
            yield block


def arrays_of(path):
    """The text of every innermost array after "vectors":, without its brackets."""
    found, rest = False, ""
    for block in blocks(path):
        rest += block
        if not found:
            at = rest.find('"vectors":')
            if at < 0:
                continue
            found, rest = True, rest[at:]
        *whole, rest = rest.split("]")
        for entry in whole:
            if ":[" in entry:
                yield entry[entry.rindex(":[") + 2:]


def main():
    path, dimensions, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    rows = 0
    with open(output, "wb") as file:
        for entry in arrays_of(path):
            values = entry.split(",")[:dimensions]
            if len(values) != dimensions:
                sys.exit(f"word_vectors.py: row {rows} of {path} has {len(values)} numbers")
            row = array.array("f", map(float, values))
            if sys.byteorder == "big":
                row.byteswap()
            row.tofile(file)
            rows += 1
    if rows == 0:
        sys.exit(f"word_vectors.py: {path} has no vectors")


if __name__ == "__main__":
    main()
