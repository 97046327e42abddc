// The Parquet columns that can hold all values of JSONL records.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/text/json_shape.h"
#include "data/text/record_encoder.h"

namespace kin::data {

struct JsonSchemaColumn {
  std::string name;
  std::string type;  // as SQL has it
  SpoolAs spool = SpoolAs::kValue;
};

// One column for each key, in order of appearance. A column whose values no type holds as they are
// becomes text, and `notes` gets a line that says so and why. Keys that cannot all be columns are
// an error.
Result<std::vector<JsonSchemaColumn>> json_schema(const JsonShape& records,
                                                  std::vector<std::string>& notes);

// An error if `names` cannot all be columns of Parquet: it has no names that are empty or hold a
// zero byte, and those that differ only in case are one. `what` is what they are called: "key".
Status check_parquet_names(std::span<const std::string> names, std::string_view what);

// The first two of `names` that are the same but for the case of ASCII letters; nullptr if none.
std::pair<const std::string*, const std::string*> same_but_for_case(
    std::span<const std::string> names);

}  // namespace kin::data
