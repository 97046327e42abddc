#!/usr/bin/env python3
"""Turns a folder of built web files into a C++ source that holds them.

usage: embed_assets.py FOLDER OUTPUT.cc

The source defines kin::server::embedded_assets(): path, content type, entity tag and bytes of each file, plain
and packed, sorted by path.
A file whose type is not known here is an error, as is a page that would need more than the server's content security
policy allows: inline scripts and styles, or anything from another host.
"""
import gzip
import hashlib
import pathlib
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
FORBIDDEN = {
    "an inline script": re.compile(rb"<script(?![^>]*\bsrc=)", re.I),
    "an inline style": re.compile(rb"<style\b|\sstyle=", re.I),
    "an inline event handler": re.compile(rb"<[^>]+\son\w+=", re.I),
    "something from another host": re.compile(rb"<(?:script|link|img)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//", re.I),
}
LINE = 1000


def literal(data):
    """The bytes as C++ string literals. Octal escapes end after three digits, even if another digit follows."""
    plain = {byte: chr(byte) for byte in range(0x20, 0x7F) if chr(byte) not in '"\\?'}
    pieces = [plain.get(byte) or f"\\{byte:03o}" for byte in data]
    rows = ['    "' + "".join(pieces[at:at + LINE]) + '"' for at in range(0, len(pieces), LINE)]
    return "\n".join(rows) or '    ""'


def entry(folder, path):
    name = "/" + path.relative_to(folder).as_posix()
    if path.suffix not in TYPES:
        sys.exit(f"embed_assets: {name}: files ending in '{path.suffix}' have no content type here")
    data = path.read_bytes()
    if path.suffix == ".html":
        for what, pattern in FORBIDDEN.items():
            if pattern.search(data):
                sys.exit(f"embed_assets: {name} holds {what}, which the content security policy forbids")
    tag = hashlib.sha256(data).hexdigest()[:32]
    packed = gzip.compress(data, 9, mtime=0)
    if len(packed) > 0.9 * len(data):
        packed = b""
    return f'    {{"{name}", "{TYPES[path.suffix]}", "\\"{tag}\\"",\n    {view(data)},\n    {view(packed)}}},\n'


def view(data):
    return f"std::string_view(\n{literal(data)},\n    {len(data)})"


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if folder / "index.html" not in files:
        sys.exit(f"embed_assets: {folder} has no index.html")
    entries = "".join(entry(folder, path) for path in files)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(
        '#include "server/page/assets.h"\n\n'
        "namespace kin::server {\n\n"
        "std::span<const Asset> embedded_assets() {\n"
        f"  static constexpr Asset kAssets[] = {{\n{entries}  }};\n"
        "  return kAssets;\n"
        "}\n\n"
        "}  // namespace kin::server\n")


if __name__ == "__main__":
    main()
