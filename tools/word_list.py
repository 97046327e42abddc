#!/usr/bin/env python3
"""Writes the most frequent words of a wink-embeddings JSON file, one per line, the most frequent first.

usage: word_list.py FILE.json COUNT > words.txt

The file begins with its list of words; the vectors after it are not read. An entry that is not made
of letters, digits, points, hyphens and apostrophes becomes an empty line, so that a line's number
stays the word's rank.
"""
import json
import re
import sys


def words_of(path):
    head = ""
    with open(path, encoding="utf-8") as file:
        while '"vectors":' not in head:
            block = file.read(1 << 20)
            if not block:
                sys.exit(f"word_list.py: {path} has no list of words in front of its vectors")
            head += block
    begin = head.index('"words":') + len('"words":')
    return json.JSONDecoder().raw_decode(head, begin)[0]


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    plain = re.compile(r"[\w.'-]+")
    for word in words_of(path)[:count]:
        print(word if plain.fullmatch(word) else "")


if __name__ == "__main__":
    main()
