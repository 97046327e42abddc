// Writes kept records of text files in another format.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/record_set.h"
#include "data/dataset.h"
#include "data/text/record_reader.h"
#include "data/text/skip_log.h"

namespace kin::data {

struct ConvertRequest {
  std::span<const Input> inputs;
  const CsvHeader& header;  // of CSV inputs
  const RecordSet& keep;
  const SkipLog& skipped;
  const std::filesystem::path& path;    // the path to write to
  const std::filesystem::path& output;  // its final name
  FileType type;                        // of another format than the inputs
  const WriteOptions& how;              // with edits that check_edits() lets pass
  const DatasetOptions& options;
};

// The least memory to write records to Parquet.
WriteMemory least_memory_to_parquet();

// The notes of the report list what the new format did not keep.
Result<WriteReport> convert_text(const ConvertRequest& request);

}  // namespace kin::data
