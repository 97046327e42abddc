// The files that a run reads, and their types by extension.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::data {

enum class Format { kJsonl, kParquet, kCsv, kTsv };
enum class Compression { kNone, kGzip, kZstd };

struct FileType {
  Format format = Format::kJsonl;
  Compression compression = Compression::kNone;
  friend bool operator==(const FileType&, const FileType&) = default;
};

// "JSONL", "Parquet", "CSV", "TSV": for messages.
std::string_view format_name(Format format);

// By extension, in upper or lower case: .jsonl .ndjson .json .csv .tsv, each also with .gz or .zst,
// and .parquet. The error for another extension lists these.
Result<FileType> file_type(const std::filesystem::path& path);

// A file to read. `bytes` is its size on disk.
struct Input {
  std::filesystem::path path;
  FileType type;
  std::uint64_t bytes = 0;
  std::string shown_as;                   // the path as it was given, or "standard input"
  std::optional<std::int64_t> changed{};  // time of last change, nanoseconds since 1970, if known
};

// The files that `patterns` name, in order: paths, and globs (* ? [a-z], sorted by name), each
// checked to exist and to be readable. "-" is standard input: it is copied into `spool_folder`,
// since a run reads its input more than once, and read as JSONL. A glob without matches, an empty
// list, one file named twice, and files of different formats are errors.
Result<std::vector<Input>> find_inputs(std::span<const std::string> patterns,
                                       const std::filesystem::path& spool_folder);

// An error if one of `inputs` has another size or time of change than when it was found. A run
// reads its inputs several times and relies on row numbers, so an input that changes meanwhile
// makes its output wrong.
Status check_unchanged(std::span<const Input> inputs);

// The type of an output; "-" is JSONL. An error if it is one of the inputs.
Result<FileType> output_type(const std::filesystem::path& output, std::span<const Input> inputs);

}  // namespace kin::data
