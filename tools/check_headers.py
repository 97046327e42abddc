#!/usr/bin/env python3
"""Fails if a header does not stand alone, as far as the build does not prove it, or if two types have one name.

usage: check_headers.py ROOT

A header stands alone if a file may include it first. Compiling each header by itself shows that, and takes as long as a
third of the build. So it is shown in parts:
- A header with a source file beside it (x.h, x.cc) is the first that x.cc includes. Compiling x.cc shows the rest.
- Every other header is compiled by itself (cmake/KinLayer.cmake).
- Both use the precompiled header, which hides that a header of cmake/pch.h is missing. So this program looks for the names
  of these (NAMES): a header that has a name includes a header that declares it, by itself or through headers of ours.

Two types of one name in one namespace are not an error of compilation as long as no file includes both. But the linker keeps one
of their destructors and copies for both.
"""
import functools
import pathlib
import re
import sys

NAMESPACE = re.compile(r"^namespace (kin[\w:]*) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)

# The names that headers of ours use from each header in cmake/pch.h.
NAMES = {
    "algorithm": r"std::(?:ranges::\w+|sort|stable_sort|min|max|minmax|clamp|find|find_if|any_of|all_of|none_of|lower_bound|upper_bound"
                 r"|copy|copy_n|fill|fill_n|equal|count|count_if|reverse|transform|unique|remove_if|max_element|min_element)\b",
    "array": r"std::(?:array|to_array)\b",
    "atomic": r"std::(?:atomic\w*|memory_order\w*)\b",
    "chrono": r"std::chrono\b",
    "cstddef": r"std::(?:size_t|ptrdiff_t|byte|nullptr_t)\b",
    "cstdint": r"\bu?int(?:8|16|32|64)_t\b|\bU?INT(?:8|16|32|64)_(?:MAX|MIN)\b",
    "cstring": r"std::(?:mem(?:cpy|cmp|set|move|chr)|str(?:len|cmp))\b",
    "filesystem": r"std::filesystem\b",
    "functional": r"std::(?:function|less|greater|equal_to|ref|cref|bind|invoke|reference_wrapper)\b",
    "map": r"std::(?:multi)?map\b",
    "memory": r"std::(?:unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this)\b",
    "mutex": r"std::(?:\w*mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once)\b",
    "optional": r"std::(?:optional|nullopt|nullopt_t|make_optional)\b",
    "span": r"std::(?:span|as_bytes|as_writable_bytes)\b",
    "string": r"std::(?:string|to_string|char_traits)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(?:thread|jthread|this_thread)\b",
    "unordered_map": r"std::unordered_(?:multi)?map\b",
    "utility": r"std::(?:move|pair|forward|swap|exchange|make_pair|declval|index_sequence|make_index_sequence|to_underlying|in_place)\b",
    "variant": r"std::(?:variant|monostate|visit|get_if|holds_alternative)\b",
    "vector": r"std::vector\b",
}
# Other headers that declare the names of one too.
CONTAINERS = {"array", "deque", "list", "map", "set", "span", "string", "string_view", "unordered_map", "unordered_set", "vector"}
ALSO_IN = {
    "cstddef": CONTAINERS | {"cstring", "cstdio", "cstdlib", "bit", "memory", "functional", "algorithm", "filesystem"},
    "string_view": {"string"},
    "mutex": {"shared_mutex", "condition_variable"},
    "functional": {"map", "set"},
    "utility": CONTAINERS | {"algorithm", "functional", "memory", "optional", "variant", "tuple", "mutex"},
    "optional": set(),
}


class Tree:
    def __init__(self, src):
        self.texts = {path.relative_to(src).as_posix(): path.read_text() for path in sorted(src.rglob("*")) if path.suffix in (".h", ".cc")}

    def includes(self, path):
        """Quote and target of each include, in order."""
        return INCLUDE.findall(self.texts[path])

    @functools.lru_cache(maxsize=None)
    def standard_headers(self, path):
        """Headers in angle brackets that `path` includes, by itself or through files of the tree."""
        found, open_files, seen = set(), [path], set()
        while open_files:
            one = open_files.pop()
            if one in seen or one not in self.texts:
                continue
            seen.add(one)
            for quote, target in self.includes(one):
                if quote == "<":
                    found.add(target)
                else:
                    open_files.append(target)
        return found


def hidden_headers(root):
    return [target for _, target in INCLUDE.findall((root / "cmake/pch.h").read_text())]


def missing_headers(tree, path, hidden):
    """(name used, header that is missing) for each header in `hidden` that `path` needs and does not get."""
    code = COMMENT_OR_STRING.sub(" ", "\n".join(line for line in tree.texts[path].splitlines() if not INCLUDE.match(line)))
    there = tree.standard_headers(path)
    for header in hidden:
        name = re.search(NAMES[header], code)
        if name and header not in there and not there & ALSO_IN.get(header, set()):
            yield name.group(0), header


def types_of_one_name(tree):
    """What is wrong with the types that headers define."""
    first = {}
    for path, text in tree.texts.items():
        namespace = NAMESPACE.search(text)
        if not path.endswith(".h") or namespace is None:
            continue
        for name in TYPE.findall(text):
            other = first.setdefault((namespace[1], name), path)
            if other != path:
                yield f"src/{path}: {namespace[1]}::{name} is the name of a type of src/{other}, too"


def faults(root):
    tree, hidden = Tree(root / "src"), hidden_headers(root)
    for header in hidden:
        if header not in NAMES:
            yield f"cmake/pch.h: <{header}> is not in NAMES of tools/check_headers.py"
            return
    for path in tree.texts:
        if not path.endswith(".h"):
            continue
        source = path[:-2] + ".cc"
        if source in tree.texts and tree.includes(source)[:1] != [('"', path)]:
            yield f"src/{source}: include \"{path}\" first, which shows that it stands alone"
        for name, header in missing_headers(tree, path, hidden):
            yield f"src/{path}: {name} needs #include <{header}>"
    yield from types_of_one_name(tree)


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    for fault in found:
        print(fault)
    print(f"{len(found)} faults of headers" if found else "headers stand alone")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
