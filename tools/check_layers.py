#!/usr/bin/env python3
"""Fails if a file includes what its place in the house does not allow.

usage: check_layers.py SRC_DIR

- A room includes only rooms to its left in TIERS.
- The headers at the top of a room are its door. Another room includes those and nothing below them.
- The sub-folders of a room have an order of their own (INSIDE): a folder includes the door and the
  folders to its left. What a door header includes counts for the folder that includes it, so a door
  cannot be used to reach a folder to the right.
- testing/ holds fixtures, models and fault injectors. Tests, fuzzers, micro-benchmarks, other
  testing/ folders and the room `bench` include it; the libraries of the product do not.
- A heavy library is included only in its home room (HOMES), and only in source files.

docs/architecture.md prints TIERS, INSIDE and HOMES; check_docs.py compares.
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
    ["cloud"],
    ["store", "index", "embed"],
    ["dedup", "stories", "search", "router"],
    ["rpc"],
    ["server"],
    ["app"],
    ["bench"],
]

# Sub-folders of each room, left to right. Every room may have testing/ besides.
INSIDE = {
    "text": ["characters"],
    "sketch": ["kernels"],
    "kv": ["engine", "log", "rocks"],
    "net": ["http"],
    "data": ["files", "output", "text", "pages", "duckdb", "parquet", "convert"],
    "cloud": ["signing", "credentials", "calls", "s3", "dynamo", "resp"],
    "store": ["seen", "signatures", "segments", "fingerprints", "ledger"],
    "index": ["truth", "graph", "text", "vector", "shard"],
    "embed": ["linear", "files", "corpus", "http"],
    "dedup": ["spill", "scan", "known", "pairs", "groups", "cut", "against", "output", "stages", "ingest", "trial"],
    "stories": ["feeds", "grouping", "newsroom"],
    "search": ["vectors", "serving"],
    "router": ["placement", "node", "meta", "calls", "writes", "query", "moves"],
    "rpc": ["wire"],
    "server": ["http", "watch", "tenants", "page", "routed", "api", "service", "node"],
    "app": ["fingerprints", "dedup", "seen", "search", "stories", "nodes"],
    "bench": ["dedup", "seen", "stories", "search", "nodes"],
}
TESTING = "testing"

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
    "openssl/": ["net", "sketch", "cloud", "server"],
    "duckdb.h": ["data"],
    "simdjson.h": ["data"],
    "zstd.h": ["data"],
    "zlib.h": ["data"],
    "libdeflate.h": ["data"],
    "bzlib.h": ["data"],
    "lzma.h": ["data"],
    "snappy": ["data"],
    "lz4.h": ["data"],
    "brotli/": ["data"],
    "roaring/": ["index"],
    "Eigen/": ["embed"],
    "hnswlib/": ["bench"],
    "sqlite3.h": ["stories"],
    "pugixml": ["stories"],
    "faiss/": ["router"],
    "grpc": ["rpc"],
    "google/protobuf": ["rpc"],
    "kindred/v1/": ["rpc"],  # made from src/rpc/proto
    "boost/": ["server"],
    "prometheus/": ["server"],
    "CLI/": ["app"],
    "ncurses": ["app"],
    "yaml-cpp/": ["app"],
    "xapian.h": ["bench"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
TEST_FILE = re.compile(r"_(test|fuzz|bench)\.cc$")


def room_of(path):
    return path.split("/")[0]


def folder_of(path):
    """The sub-folder of `path` inside its room; empty for the door."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def is_test_code(path):
    return folder_of(path) == TESTING or room_of(path) == "bench" or bool(TEST_FILE.search(path))


def read_includes(src):
    """{path: [(line number, quote, target)]} for every file of the tree, paths relative to it."""
    files = {}
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        found = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                found.append((number, *match.groups()))
        files[path.relative_to(src).as_posix()] = found
    return files


def check_room_order(path, target):
    """What is wrong with an include of another room, or nothing."""
    height = {name: tier for tier, names in enumerate(TIERS) for name in names}
    room, other = room_of(path), room_of(target)
    if height[other] >= height[room]:
        return f"'{room}' may not include '{other}' ({target})"
    if folder_of(target) == TESTING:
        return None if is_test_code(path) else f"{target} is for tests only"
    if folder_of(target):
        return f"{target} is inside '{other}': include a header at the top of src/{other}"
    return None


def reached_folders(files, target):
    """Folders of the room that an include of `target` brings in, through door headers too."""
    room, seen, open_files, folders = room_of(target), set(), [target], {}
    while open_files:
        path = open_files.pop()
        if path in seen or room_of(path) != room:
            continue
        seen.add(path)
        if folder_of(path):
            folders.setdefault(folder_of(path), path)
        else:
            open_files += [found for _, quote, found in files.get(path, []) if quote == '"']
    return folders


def check_inner_order(files, path, target):
    """What is wrong with an include within one room, or nothing."""
    room, folder = room_of(path), folder_of(path)
    if folder_of(target) == TESTING and not is_test_code(path):
        return f"{target} is for tests only"
    if not folder or is_test_code(path):
        return None
    order = INSIDE.get(room, [])
    for reached, through in reached_folders(files, target).items():
        if reached in order and folder in order and order.index(reached) > order.index(folder):
            way = "" if through == target else f", which includes {through}"
            return f"'{room}/{folder}' may not include '{room}/{reached}' ({target}{way})"
    return None


def check_library(path, target):
    for prefix, homes in HOMES.items():
        if not target.startswith(prefix):
            continue
        if homes is not None and room_of(path) not in homes:
            yield f"<{target}> belongs in {' or '.join(homes)}, not in '{room_of(path)}'"
        if path.endswith(".h") and prefix != "hwy/":
            yield f"<{target}> is a library header: include it in a .cc file"


def check_folder(path):
    """What is wrong with where the file is, or nothing."""
    rooms = {name for names in TIERS for name in names}
    room, folder = room_of(path), folder_of(path)
    if room not in rooms:
        return f"'{room}' is not a room (see TIERS in tools/check_layers.py)"
    if folder and folder != TESTING and folder not in INSIDE.get(room, []):
        return f"'{room}/{folder}' has no place in the order (see INSIDE in tools/check_layers.py)"
    return None


def breaches(src):
    files = read_includes(src)
    rooms = {name for names in TIERS for name in names}
    for path, includes in files.items():
        misplaced = check_folder(path)
        if misplaced:
            yield f"{src / path}: {misplaced}"
            continue
        for number, quote, target in includes:
            where = f"{src / path}:{number}"
            if quote == '"' and "/" not in target:
                yield f"{where}: write the room in the path: \"{room_of(path)}/{target}\""
            elif quote == '"' and room_of(target) in rooms:
                same_room = room_of(target) == room_of(path)
                wrong = (check_inner_order(files, path, target) if same_room
                         else check_room_order(path, target))
                if wrong:
                    yield f"{where}: {wrong}"
            for wrong in check_library(path, target):
                yield f"{where}: {wrong}"


def doors(src):
    """{room: how many headers its door has}, and how many there are below it."""
    counts = {}
    for path in read_includes(src):
        if path.endswith(".h") and folder_of(path) != TESTING:
            door, inside = counts.get(room_of(path), (0, 0))
            counts[room_of(path)] = (door, inside + 1) if folder_of(path) else (door + 1, inside)
    return counts


def main():
    src = pathlib.Path(sys.argv[-1])
    if "--doors" in sys.argv:
        for room, (door, inside) in sorted(doors(src).items()):
            print(f"{room:8} {door:3} headers in the door, {inside:3} inside")
        return
    found = list(breaches(src))
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches of the layer order" if found else "layers hold")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
