"""Files of records in the formats that `kindred dedup` reads, written and read without it.

Parquet is made and read by DuckDB's own library (.deps/duckdb), the rest by Python.
"""
import bz2
import csv
import ctypes
import gzip
import io
import json
import lzma
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]

# The columns of all corpora, with their types in DuckDB.
TYPES = {
    "id": "VARCHAR", "n": "BIGINT", "text": "VARCHAR", "title": "VARCHAR", "when": "VARCHAR", "rank": "BIGINT",
    "source": "VARCHAR", "meta": "STRUCT(title VARCHAR, body VARCHAR)",
    "messages": 'STRUCT("role" VARCHAR, "content" VARCHAR)[]',
}


class DuckDb:
    """A database in memory."""

    def __init__(self):
        self.library = ctypes.CDLL(str(ROOT / ".deps/duckdb/lib/libduckdb.so"))
        database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.duckdb_open(None, ctypes.byref(database)) == 0
        assert self.library.duckdb_connect(database, ctypes.byref(self.connection)) == 0
        self.run("SET threads = 1")

    def run(self, statement):
        result = (ctypes.c_uint64 * 16)()  # larger than duckdb_result
        failed = self.library.duckdb_query(self.connection, statement.encode(), ctypes.byref(result))
        if failed:
            self.library.duckdb_result_error.restype = ctypes.c_char_p
            raise RuntimeError(f"{self.library.duckdb_result_error(ctypes.byref(result)).decode()}\n{statement}")
        self.library.duckdb_destroy_result(ctypes.byref(result))


_duckdb = None


def duckdb():
    global _duckdb
    _duckdb = _duckdb or DuckDb()
    return _duckdb


def pack(data, extension):
    if extension == ".gz":
        return gzip.compress(data, 1)
    if extension == ".bz2":
        return bz2.compress(data, 1)
    if extension == ".xz":
        return lzma.compress(data, preset=0)
    if extension == ".zst":
        return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def unpack(data, extension):
    assert data or not extension, f"an empty file is not a file of {extension}"
    if extension == ".gz":
        return gzip.decompress(data)
    if extension == ".bz2":
        return bz2.decompress(data)
    if extension == ".xz":
        return lzma.decompress(data)
    if extension == ".zst":
        return subprocess.run(["zstd", "-dqc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def split_name(name):
    """("a", ".jsonl", ".gz") of "a.jsonl.gz"."""
    suffixes = pathlib.PurePath(name).suffixes
    packed = suffixes[-1] if suffixes[-1] in (".gz", ".bz2", ".xz", ".zst") else ""
    kind = suffixes[-2] if packed else suffixes[-1]
    return name.removesuffix(packed).removesuffix(kind), kind, packed


def quoted(path):
    return "'" + str(path).replace("'", "''") + "'"


def write_parquet(path, columns, rows, group_rows, codec):
    """Rows are dictionaries; a missing column is null."""
    lines = path.with_name(path.name + ".lines")
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = ", ".join(f"{json.dumps(name)}: {quoted(TYPES[name])}" for name in columns)
    records = (f"read_json({quoted(lines)}, format = 'newline_delimited', columns = {{{names}}})" if rows else
               "(SELECT " + ", ".join(f'NULL::{TYPES[name]} AS "{name}"' for name in columns) + " LIMIT 0)")
    duckdb().run(f"COPY (SELECT * FROM {records}) TO {quoted(path)} "
                 f"(FORMAT parquet, ROW_GROUP_SIZE {group_rows}, CODEC '{codec}')")
    lines.unlink()


def read_parquet(path):
    """Rows as dictionaries with every column."""
    lines = path.with_name(path.name + ".lines")
    duckdb().run(f"COPY (SELECT * FROM read_parquet({quoted(path)})) TO {quoted(lines)} (FORMAT json)")
    rows = [json.loads(line) for line in lines.read_text().split("\n") if line]
    lines.unlink()
    return rows


def read_csv(text, delimiter):
    """Rows as dictionaries of texts."""
    csv.field_size_limit(1 << 30)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return [dict(zip(rows[0], row)) for row in rows[1:]] if rows else []


def read_records(path):
    """The records of a file of any format, as dictionaries."""
    _, kind, packed = split_name(path.name)
    if kind == ".parquet":
        return read_parquet(path)
    text = unpack(path.read_bytes(), packed).decode()
    if kind in (".csv", ".tsv"):
        return read_csv(text, "\t" if kind == ".tsv" else ",")
    if kind == ".json" and text.startswith("["):
        return json.loads(text)
    return [json.loads(line) for line in text.split("\n") if line]
