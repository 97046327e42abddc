// Notes on column types that a format cannot keep.
#pragma once

#include <string>
#include <vector>

#include "data/input.h"
#include "data/parquet/file.h"

namespace kin::data {

// True for decimals with more digits than a double, as which JSON numbers are read, can hold.
bool is_long_decimal(const std::string& type);

// Appends a note, in plain words, for each of `columns` whose type `format` lacks.
void add_type_notes(const std::vector<ParquetColumn>& columns, Format format,
                    std::vector<std::string>& notes);

// A column as Parquet stores it. Empty texts where the file does not say.
struct StoredColumn {
  std::string name;
  std::string physical;   // INT96, BYTE_ARRAY, …
  std::string converted;  // UTF8, TIMESTAMP_MICROS, …
};

// Appends a note for each column whose storage changed: DuckDB reads some old ways to store values
// and writes them in the new way.
void add_storage_notes(const std::vector<StoredColumn>& before,
                       const std::vector<StoredColumn>& after, std::vector<std::string>& notes);

}  // namespace kin::data
