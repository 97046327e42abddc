#!/usr/bin/env python3
"""Fails if a room includes a room it may not, or a heavy library outside its home.

usage: check_layers.py SRC_DIR

The order and the homes below are the ones docs/architecture.md prints; check_docs.py compares.
"""
import pathlib
import re
import sys

# Left to right; rooms in one tier do not include each other.
TIERS = [
    ["base"],
    ["text"],
    ["sketch"],
    ["kv", "net", "data"],
    ["store", "index", "embed"],
    ["dedup", "stories", "search", "router"],
    ["rpc"],
    ["server"],
    ["app"],
]

# A header whose path starts with the key may be included only in the rooms named.
HOMES = {
    "fmt/": None,  # light enough for everybody's .cc files
    "xxhash.h": ["base"],
    "spdlog/": ["base"],
    "unicode/": ["text"],
    "libstemmer.h": ["text"],
    "hwy/": ["sketch", "index"],
    "rocksdb/": ["kv"],
    "curl/": ["net"],
    "openssl/": ["net", "sketch", "server"],
    "duckdb.h": ["data"],
    "simdjson.h": ["data"],
    "zstd.h": ["data"],
    "zlib.h": ["data"],
    "libdeflate.h": ["data"],
    "roaring/": ["index"],
    "hnswlib/": ["app"],
    "sqlite3.h": ["stories"],
    "pugixml": ["stories"],
    "faiss/": ["router"],
    "grpc": ["rpc"],
    "google/protobuf": ["rpc"],
    "boost/": ["server"],
    "prometheus/": ["server"],
    "CLI/": ["app"],
    "ncurses": ["app"],
    "yaml-cpp/": ["app"],
    "xapian.h": ["app"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def allowed(room, other):
    if room == other:
        return True
    height = {name: tier for tier, names in enumerate(TIERS) for name in names}
    return height[other] < height[room]


def breaches(src):
    rooms = {name for names in TIERS for name in names}
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        room = path.relative_to(src).parts[0]
        if room not in rooms:
            yield f"{path}: '{room}' is not a room (see TIERS in tools/check_layers.py)"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, target = match.groups()
            where = f"{path}:{number}"
            other = target.split("/")[0]
            if quote == '"' and "/" not in target:
                yield f"{where}: write the room in the path: \"{room}/{target}\""
            elif quote == '"' and other in rooms and not allowed(room, other):
                yield f"{where}: '{room}' may not include '{other}' ({target})"
            elif quote == '"' and "/internal/" in target and other != room:
                yield f"{where}: {target} is private to '{other}'"
            for prefix, homes in HOMES.items():
                if target.startswith(prefix) and homes is not None and room not in homes:
                    yield f"{where}: <{target}> belongs in {' or '.join(homes)}, not in '{room}'"
                if target.startswith(prefix) and path.suffix == ".h" and not prefix == "hwy/":
                    yield f"{where}: <{target}> is a library header: include it in a .cc file"


def main():
    found = list(breaches(pathlib.Path(sys.argv[1])))
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches of the layer order" if found else "layers hold")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
