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
  std::string type;  // the name of the type in SQL
  SpoolAs spool = SpoolAs::kValue;
};

// One column for each key, in order of appearance. A column whose values fit no type unchanged
// becomes text, and `notes` gets a line with the reason. Keys that cannot all be columns are an
// error.
Result<std::vector<JsonSchemaColumn>> json_schema(const JsonShape& records,
                                                  std::vector<std::string>& notes);

// An error if `names` cannot all be columns of Parquet: names must not be empty, contain a zero
// byte, or differ only in case. `what` is the word for them in messages: "key".
Status check_parquet_names(std::span<const std::string> names, std::string_view what);

// The first two of `names` that are the same but for the case of ASCII letters; nullptr if none.
std::pair<const std::string*, const std::string*> same_but_for_case(
    std::span<const std::string> names);

}  // namespace kin::data
