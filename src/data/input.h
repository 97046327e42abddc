// The files that a run reads, and their types by extension.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace kin::data {

class RemoteFiles;

enum class Format { kJsonl, kParquet, kCsv, kTsv };
enum class Compression { kNone, kGzip, kZstd, kBzip2, kXz };

struct FileType {
  Format format = Format::kJsonl;
  Compression compression = Compression::kNone;
  friend bool operator==(const FileType&, const FileType&) = default;
};

// "JSONL", "Parquet", "CSV", "TSV": for messages.
std::string_view format_name(Format format);

// By extension, in upper or lower case: .jsonl .ndjson .json .csv .tsv, each also with .gz, .zst,
// .bz2 or .xz, and .parquet. The error for another extension lists these.
Result<FileType> file_type(const std::filesystem::path& path);

// By the last extension; kNone if that is not one of a compressed file.
Compression compression_of(const std::filesystem::path& path);

// True if the extension is .json, before that of a compression: such a file may hold one
// array.
bool has_json_extension(const std::filesystem::path& path);

// A file to read. `bytes` is its size on disk.
struct Input {
  std::filesystem::path path;
  FileType type{};
  std::uint64_t bytes = 0;
  std::string shown_as;                   // the path as it was given, or "standard input"
  std::optional<std::int64_t> changed{};  // time of last change, nanoseconds since 1970, if known
  // A .json file that holds one array: its elements are the records. They are read as lines of
  // JSONL, whose line ends stand where the commas were.
  bool array = false;
  // The path below the named folder, or below the folders of a glob that have no wildcard; for a
  // file that was named itself, its name.
  std::filesystem::path relative{};
  // The named folder, if one was named: everything below it is an input.
  std::filesystem::path named_folder{};
  // Where it is read from if it is not on this machine; `path` is its address. Borrowed.
  RemoteFiles* remote = nullptr;
  std::string version{};  // of a remote file: another one when the contents are others
};

// Opens the file to read its bytes as they are stored.
Result<File> open_input(const Input& input);
// Whether both are the same file.
bool same_file(const Input& input, const std::filesystem::path& other);

// The files that `patterns` name, in order: paths, globs (as in files/glob.h), and folders, which
// stand for every dataset file below them, sorted, without hidden ones. Each is checked to exist
// and to be readable. "-" is standard input: it is copied into `spool_folder`, since a run reads
// its input more than once, and read as JSONL. A glob without matches, a folder without dataset
// files, an empty list, and one file named twice are errors. `notes` gets what a user should know:
// how many files of a folder were left out because their extensions are not those of datasets.
// Addresses of files on other machines ("s3://bucket/corpus/*.parquet") need `remote`.
Result<std::vector<Input>> find_inputs(std::span<const std::string> patterns,
                                       const std::filesystem::path& spool_folder,
                                       std::vector<std::string>* notes = nullptr,
                                       RemoteFiles* remote = nullptr);

// An error if one of `inputs` has another size or time of change than when it was found. A run
// reads its inputs several times and relies on row numbers, so an input that changes meanwhile
// makes its output wrong.
Status check_unchanged(std::span<const Input> inputs);

// The type of an output; "-" is JSONL. An error if it is one of the inputs.
Result<FileType> output_type(const std::filesystem::path& output, std::span<const Input> inputs);

}  // namespace kin::data
