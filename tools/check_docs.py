#!/usr/bin/env python3
"""Fails if the documents contradict the repository.

usage: check_docs.py ROOT

- Every path of this repository that a document names in backticks exists, and so does the target of
  every relative link. Wildcards and placeholders (`src/<room>/README.md`, `docs/adr/…`) must lie in
  a folder that exists; files that the build makes (`build/`, `.deps/`) are not checked.
- docs/architecture.md prints the orders and the homes that tools/check_layers.py enforces, and calls
  planned just the rooms that CMakeLists.txt does not build.
- The README of a room has a table with every header of the room's door, and names its sub-folders.
- The commands of a block marked <!-- ci: quickstart --> in README.md are run by continuous
  integration: a make target that .ci/run reaches, or a kindred command of scripts/demo or a case.
- Documents keep to their length.
"""
import importlib.util
import pathlib
import re
import sys

REQUIRED = [
    "README.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "docs/architecture.md",
    "docs/benchmarks.md",
    "docs/reliability.md",
    "docs/formats.md",
    "docs/glossary.md",
]
# Not written yet, but other documents may name them. Once one exists it belongs in REQUIRED.
AWAITED = []
LONGEST = {"README.md": 120, "CONTRIBUTING.md": 150, "docs/architecture.md": 250, "src/*/README.md": 45}

FOLDERS = [".ci", "cmake", "docs", "examples", "scripts", "src", "tests", "tools"]
BUILD_OUTPUTS = ("build/", ".deps/")
QUICKSTART = "<!-- ci: quickstart -->"


def documents(root):
    patterns = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "src/*/README.md"]
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def prose_lines(text):
    """(number, line) outside fenced blocks."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


# --- presence and length ---------------------------------------------------------------------

def check_presence(root):
    for name in REQUIRED:
        if not (root / name).is_file():
            yield f"{name} is missing"
    for name in AWAITED:
        if (root / name).exists():
            yield f"{name} exists now: move it from AWAITED to REQUIRED in tools/check_docs.py"


def check_lengths(root):
    for pattern, most in LONGEST.items():
        for path in sorted(root.glob(pattern)):
            lines = len(path.read_text().splitlines())
            if lines > most:
                yield f"{path.relative_to(root)}: {lines} lines, at most {most}"


# --- paths and links -------------------------------------------------------------------------

def check_paths(root):
    for document in documents(root):
        for number, line in prose_lines(document.read_text()):
            where = f"{document.relative_to(root)}:{number}"
            for span in re.findall(r"`([^`]+)`", line):
                for word in span.split():
                    if not path_holds(root, word):
                        yield f"{where}: `{word}` does not exist"
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if not link_holds(document, target, root):
                    yield f"{where}: the link to {target} leads nowhere"


def path_holds(root, word):
    """True if `word` is not a path of this repository, or is one that exists."""
    path = re.sub(r":\d+$", "", word.strip("\"'(),;").rstrip(".:"))
    if path.startswith(BUILD_OUTPUTS) or path in AWAITED:
        return True
    if path.split("/")[0] not in FOLDERS or "/" not in path:
        is_file_name = "/" not in path and path in known_files()
        return not is_file_name or (root / path).exists()
    fixed = re.split(r"[*?<{…]|\.\.\.", path)[0]
    if fixed != path:
        return (root / fixed.rpartition("/")[0]).is_dir()
    return (root / path).exists()


def known_files():
    return {*REQUIRED, ".clang-format", ".clang-tidy", ".editorconfig", "CMakeLists.txt",
            "CMakePresets.json", "Makefile"}


def link_holds(document, target, root):
    if re.match(r"[a-z]+:|#", target):
        return True
    path = (document.parent / target.partition("#")[0]).resolve()
    awaited = [(root / name).resolve() for name in AWAITED]
    return path.exists() or path in awaited


# --- the architecture ------------------------------------------------------------------------

def check_architecture(root):
    document = root / "docs/architecture.md"
    if not document.is_file():
        return
    text = document.read_text()
    layers = load_layers(root)
    if layer_line(text) != layers.TIERS:
        yield "docs/architecture.md: the line of rooms differs from TIERS in tools/check_layers.py"
    table = room_table(text)
    rooms = {room for tier in layers.TIERS for room in tier}
    for room in sorted(rooms ^ set(table)):
        yield f"docs/architecture.md: '{room}' must be both in the table and in TIERS"
    for room, (description, homes) in table.items():
        expected = {header for header, rooms in layers.HOMES.items() if rooms and room in rooms}
        if homes != expected:
            yield (f"docs/architecture.md: '{room}' is home of {sorted(homes)} there and of "
                   f"{sorted(expected)} in tools/check_layers.py")
    if inner_orders(text) != {room: [*order] for room, order in layers.INSIDE.items()}:
        yield "docs/architecture.md: the table of sub-folders differs from INSIDE in tools/check_layers.py"
    yield from check_rooms(root, table)


def check_rooms(root, table):
    built = set(re.findall(r"^kin_layer\((\w+)", (root / "CMakeLists.txt").read_text(), re.M))
    planned = {room for room, (description, _) in table.items() if "(planned)" in description}
    for room in sorted(set(table) - planned - built):
        yield f"docs/architecture.md: '{room}' is not built (CMakeLists.txt): call it (planned)"
    for room in sorted(planned & built):
        yield f"docs/architecture.md: '{room}' is built, not planned"
    folders = {path.name for path in (root / "src").glob("*") if path.is_dir()}
    for room in sorted(folders - set(table)):
        yield f"docs/architecture.md: src/{room} is not in the table of rooms"
    for room in sorted(folders):
        if not (root / "src" / room / "README.md").is_file():
            yield f"src/{room}/README.md is missing"


def load_layers(root):
    spec = importlib.util.spec_from_file_location("check_layers", root / "tools/check_layers.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def layer_line(text):
    for line in text.splitlines():
        if line.startswith("base →"):
            return [re.findall(r"\w+", tier) for tier in line.split("→")]
    return None


def room_table(text):
    """{room: (description, header prefixes)} from rows `| `room` | description | home of |`."""
    table = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        match = re.fullmatch(r"`(\w+)`", cells[0])
        if line.startswith("|") and match and len(cells) == 3:
            table[match.group(1)] = (cells[1], set(re.findall(r"`([^`]+)`", cells[2])))
    return table


def inner_orders(text):
    """{room: sub-folders in order} from rows `| `room` | `folder` → `folder` |`."""
    orders = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        match = re.fullmatch(r"`(\w+)`", cells[0])
        if line.startswith("|") and match and len(cells) == 2:
            orders[match.group(1)] = re.findall(r"`(\w+)`", cells[1])
    return orders


def check_readmes(root):
    """The README of a room names every header of its door, and no other, and its sub-folders."""
    inside = load_layers(root).INSIDE
    for path in sorted(root.glob("src/*/README.md")):
        room, text = path.parent.name, path.read_text()
        cells = re.findall(r"^\| (`[\w.]+\.h`[^|]*)\|", text, re.M)
        named = {name for cell in cells for name in re.findall(r"`([\w.]+\.h)`", cell)}
        door = {header.name for header in path.parent.glob("*.h")}
        for header in sorted(door - named):
            yield f"src/{room}/README.md: the table of the door lacks `{header}`"
        for header in sorted(named - door):
            yield f"src/{room}/README.md: `{header}` is not in the door"
        for folder in inside.get(room, []):
            if f"`{folder}/`" not in text:
                yield f"src/{room}/README.md: `{folder}/` is not mentioned"


# --- the quickstart --------------------------------------------------------------------------

def check_quickstart(root):
    readme = root / "README.md"
    if not readme.is_file():
        return
    commands = quickstart_commands(readme.read_text())
    if not commands:
        yield f"README.md: no sh block is marked {QUICKSTART}"
    targets = make_targets((root / "Makefile").read_text())
    reached = reached_targets(targets, (root / ".ci/run").read_text())
    proven = proven_commands(root)
    for number, command in commands:
        where = f"README.md:{number}: `{command}`"
        words = command.split()
        if words[0] == "make" and len(words) > 1:
            for target in words[1:]:
                if target not in targets:
                    yield f"{where}: the Makefile has no target {target}"
                elif target not in reached:
                    yield f"{where}: .ci/run does not run {target}"
        elif pathlib.PurePath(words[0]).name == "kindred":
            if " ".join(["kindred", *words[1:]]) not in proven:
                yield f"{where}: neither scripts/demo nor a case runs it"
        else:
            yield f"{where}: a quickstart has make and kindred commands only"


def quickstart_commands(text):
    commands, marked, inside = [], False, False
    for number, line in enumerate(text.splitlines(), 1):
        command = line.strip().removeprefix("$ ").partition("  #")[0].strip()
        if inside and line.startswith("```"):
            inside = marked = False
        elif inside and command and not command.startswith("#"):
            commands.append((number, command))
        elif not inside and marked and line.startswith("```sh"):
            inside = True
        elif line.strip() == QUICKSTART:
            marked = True
        elif line.strip() and not inside:
            marked = False
    return commands


def make_targets(text):
    """{target: the targets it depends on}."""
    targets = {}
    for line in text.splitlines():
        match = re.match(r"([a-z][\w\- ]*):(?!=)(.*)", line)
        if match:
            for name in match.group(1).split():
                targets.setdefault(name, []).extend(match.group(2).split())
    return targets


def reached_targets(targets, script):
    commands = re.findall(r"^[^#\n]*?\bmake\b([^\n;&|#]*)", script, re.M)
    pending = [word for words in commands for word in words.split() if word in targets]
    reached = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += [other for other in targets.get(name, []) if other in targets]
    return reached


def proven_commands(root):
    """Every line of the demo and the cases, without the prompt and the runner's own words."""
    files = [root / "scripts/demo", *sorted(root.glob("tests/cases/*.case"))]
    lines = [line for path in files if path.is_file() for line in path.read_text().splitlines()]
    return {re.sub(r"^(=== \$|run)\s+|(?<!\S)(\./)?build/release/(?=kindred)", "", line.strip()) for line in lines}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    checks = (check_presence, check_lengths, check_paths, check_architecture, check_readmes, check_quickstart)
    found = [fault for check in checks for fault in check(root)]
    for fault in found:
        print(fault)
    print(f"{len(found)} faults in the documents" if found else "documents hold")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
