// An output of JSON objects, one a line, in the format of its extension.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

struct LineOutputOptions {
  std::filesystem::path target;  // "-" is standard output
  std::filesystem::path temporary_folder;
  // A line in which every field has a value of its type. CSV and Parquet take their columns from
  // it; it is not written.
  std::string example;
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;  // to convert with
};

// The format of such an output: by extension, JSON lines if the extension is unknown. An error for
// names such as "x.parquet.gz", which are not valid formats.
Result<FileType> line_output_type(const std::filesystem::path& target);

// Writes lines to a file at once, compressed if the extension says so. For CSV, TSV and Parquet it
// converts them after the last one. Destroyed without commit(), it leaves nothing behind.
class LineOutput {
 public:
  // An error if line_output_type() has one.
  static Result<std::unique_ptr<LineOutput>> create(LineOutputOptions options);
  ~LineOutput();
  LineOutput(const LineOutput&) = delete;

  // Writes piece `number` (from 0 on, each once), some whole lines. Waits for the pieces before it,
  // so a thread must be working on each of these. Thread-safe.
  Status append(std::uint64_t number, std::string_view lines);
  // Makes waiting calls return if a piece will not come.
  void fail();
  // After the last piece: everything is written, but not yet visible. One thread only.
  Status finish();
  // Makes the finished output appear under its name.
  Status commit();

 private:
  class Impl;
  explicit LineOutput(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Replaces `target`, a single JSON object, compressed if its extension says so. "-" is standard
// output.
Status write_json(const std::filesystem::path& target, std::string_view object);

}  // namespace kin::data
