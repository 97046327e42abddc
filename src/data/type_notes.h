// What a format cannot keep of a column's type.
#pragma once

#include <string>
#include <vector>

#include "data/input.h"
#include "data/parquet_file.h"

namespace kin::data {

// True for decimals that a double, which is what JSON numbers are read as, cannot hold.
bool is_long_decimal(const std::string& type);

// Appends a note for each of `columns` that `format` has no type for, in plain words.
void add_type_notes(const std::vector<ParquetColumn>& columns, Format format,
                    std::vector<std::string>& notes);

}  // namespace kin::data
