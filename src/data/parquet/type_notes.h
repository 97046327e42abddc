// Notes on column types that a format cannot keep.
#pragma once

#include <string>
#include <vector>

#include "data/input.h"
#include "data/parquet/file.h"

namespace kin::data {

// True for decimals that a double, which is what JSON numbers are read as, cannot hold.
bool is_long_decimal(const std::string& type);

// Appends a note for each of `columns` that `format` has no type for, in plain words.
void add_type_notes(const std::vector<ParquetColumn>& columns, Format format,
                    std::vector<std::string>& notes);

// A column as Parquet stores it. Empty words where the format says nothing.
struct StoredColumn {
  std::string name;
  std::string physical;   // INT96, BYTE_ARRAY, …
  std::string converted;  // UTF8, TIMESTAMP_MICROS, …
};

// Appends a note for each column that was stored in one way and now is in another: DuckDB reads
// some old ways to store values and writes them in the new way.
void add_storage_notes(const std::vector<StoredColumn>& before,
                       const std::vector<StoredColumn>& after, std::vector<std::string>& notes);

}  // namespace kin::data
