// Datasets: records of JSONL, Parquet and CSV files, read in parallel and written exactly as they
// were read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/record_set.h"
#include "base/result.h"
#include "data/batch.h"
#include "data/edits.h"
#include "data/input.h"
#include "data/kept_pages.h"
#include "data/output/staged_output.h"
#include "data/position.h"

namespace kin::data {

enum class OnError { kFail, kSkip };

struct ScanOptions {
  // Top-level names, or paths: "meta.title" reaches into objects, "messages[].content" into each
  // object of a list, whose texts are joined with line ends. A column whose own name contains the
  // dot or the brackets is preferred.
  std::vector<std::string> columns;
  // How many of the last columns may be missing; a missing value is null.
  std::size_t optional_columns = 0;
  int threads = 1;
  OnError on_error = OnError::kFail;
  // Visit only these rows.
  const RecordSet* only = nullptr;
  // Where to continue. A dataset that was opened since then needs the memory() of the earlier one
  // (restore()), or it knows nothing about the files and records before.
  Position start = {};
  // Called between blocks of uncompressed JSONL and CSV, between row groups of Parquet, and between
  // files of any kind; true stops the scan there. Never called by two threads at once.
  std::function<bool()> pause = {};
  // Inputs without any record are not an error.
  bool may_be_empty = false;
};

struct ScanEnd {
  Position position;
  bool finished = false;
  // By column: whether a record of this scan had it, even as null; for Parquet, whether a file has.
  std::vector<bool> found{};
};

// Called from up to `threads` threads at once, worker < threads. Batches come in no particular
// order. Rows are numbered from 0 over all inputs in order, the same in every scan.
using Visitor = std::function<Status(const Batch& batch, int worker)>;

struct DatasetOptions {
  int threads = 1;
  // Memory of reader and writer, DuckDB included; without visitors.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::filesystem::path temporary_folder;
  // Unpacked pages of Parquet scans, for later scans and for writing, also by a dataset that is
  // opened later on the same files. They count as memory. Nothing: pages are not kept.
  std::shared_ptr<KeptPages> kept_pages = {};
  // Records of JSONL and CSV that are longer are an error (kResourceExhausted). 0: 4 GB.
  std::uint64_t longest_record = 0;
  // Limit of the bytes that all threads of a scan may hold in records longer than usual; one record
  // is always held. 0: half of the memory.
  std::uint64_t long_records = 0;
};

// Records that could not be read and were left out. They keep their row numbers. Visitors and
// outputs do not get them.
struct SkippedRecords {
  std::uint64_t count = 0;
  // The first 100 by row.
  std::vector<std::pair<RecordId, std::string>> messages;
  // All of them, sorted.
  std::vector<RecordId> rows;
};

// The state that a later process needs to continue the scans of an earlier one.
struct ScanMemory {
  std::vector<std::uint64_t> first_rows;
  std::optional<std::uint64_t> rows;
  SkippedRecords skipped;
};

struct WriteReport {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // of the output
  // Losses that the output format causes, for the user. Empty if it kept everything.
  std::vector<std::string> notes;
};

// How an output is stored. Unset fields: as the inputs are, or as the tools do by default.
struct OutputFormat {
  enum class Packing { kNone, kSnappy, kGzip, kZstd, kLz4 };
  std::optional<Packing> compression = {};  // of Parquet pages
  std::optional<int> level = {};            // of gzip (1 to 12) or zstd (1 to 22)
  std::optional<std::uint64_t> row_group_rows = {};

  friend bool operator==(const OutputFormat&, const OutputFormat&) = default;
};

struct WriteOptions {
  int threads = 1;
  OutputFormat format = {};
  // Other work for threads that have nothing left to write. Each of them calls it once, several at
  // the same time. Its error fails the write.
  std::function<Status()> beside = {};
  // Changes to the records. Nothing: records are written as they were read.
  const RecordEdits* edits = nullptr;
  // Called by several threads with the number of records written since the last call. The calls add
  // up to about the number of records in `keep`; for progress.
  std::function<void(std::uint64_t records)> written = {};
};

// The least memory of a writer on one thread, in bytes.
struct WriteMemory {
  std::uint64_t bytes = 0;
  // Additional bytes for each byte of the longest record of JSONL and CSV.
  std::uint64_t copies = 0;
};

struct SampleOptions {
  std::vector<std::string> columns;
  std::size_t optional_columns = 0;  // as in ScanOptions
  std::uint64_t max_bytes = 16 << 20;
  OnError on_error = OnError::kFail;
  // If set, it gets the sampled records, on the caller's thread.
  Visitor visitor = {};
};

// An error if `format` is not valid for an output of `type`; it names the options of the command
// line.
Status check_format(const OutputFormat& format, FileType type);

// Statistics of some records from all parts of the inputs.
struct Sample {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;       // bytes of the inputs on disk that the rows stand for
  std::uint64_t total_rows = 0;  // of all inputs; an estimate unless `exact`
  bool exact = false;
  std::vector<std::vector<std::uint32_t>> lengths;  // by column, in bytes of text; 0 for null
};

// One operation at a time; an operation uses several threads inside.
class Dataset {
 public:
  // Inputs may have several formats, and CSV files different headers; their rows follow one
  // another. Inputs are never written to.
  static Result<std::unique_ptr<Dataset>> open(std::vector<Input> inputs, DatasetOptions options);
  virtual ~Dataset() = default;

  virtual const std::vector<Input>& inputs() const = 0;
  // Replaces DatasetOptions::memory_bytes from the next operation on.
  virtual void limit_memory(std::uint64_t bytes) = 0;
  // Top-level names. For JSONL the keys of the first records, in order of appearance.
  virtual Result<std::vector<std::string>> columns() = 0;

  // Visits every record. Fails at the first record, by row, that is malformed or lacks a column,
  // unless OnError::kSkip; and if the visitor fails. An input without records is an error. Values
  // that are not text are given as text.
  virtual Result<ScanEnd> scan(const ScanOptions& options, const Visitor& visitor) = 0;

  // Known at once for Parquet, for others after a complete scan.
  virtual std::optional<std::uint64_t> rows() const = 0;
  // The first row of each file that has been scanned.
  virtual std::vector<std::uint64_t> first_rows() const = 0;
  virtual const SkippedRecords& skipped() const = 0;
  // The longest record of JSONL and CSV that scans have read, or refused as too long, or that is in
  // a sample. In bytes.
  virtual std::uint64_t longest_record() const { return 0; }
  virtual ScanMemory memory() const = 0;
  virtual void restore(ScanMemory memory) = 0;

  virtual Result<Sample> sample(const SampleOptions& options) = 0;

  // An error if the records cannot be written to `output`, as far as is known without reading them.
  virtual Status check_output(const std::filesystem::path& output) const;
  // The losses of a write to `output`, for the user, as far as they are known without reading the
  // records. write() notes the same, and further ones that it finds.
  virtual Result<std::vector<std::string>> foreseen_losses(const std::filesystem::path& output,
                                                           const WriteOptions& options);

  // The least limit_memory() with which a scan of `columns`, or a write to `output`, works on one
  // thread; more threads are used if they fit. 0 if any limit is enough.
  virtual Result<std::uint64_t> least_scan_memory(const std::vector<std::string>& columns);
  virtual Result<WriteMemory> least_write_memory(const std::filesystem::path& output,
                                                 const WriteOptions& options);

  // Writes the records in `keep`, all of which must exist, in input order to `output` ("-": JSONL
  // on standard output). The output appears complete or not at all. The extension decides the
  // format. The bytes do not depend on `threads` or memory.
  Result<WriteReport> write(const RecordSet& keep, const std::filesystem::path& output,
                            int threads);
  // The same, but `output` appears only when the staged output is committed.
  virtual Result<std::pair<StagedOutput, WriteReport>> write_staged(
      const RecordSet& keep, const std::filesystem::path& output, const WriteOptions& options) = 0;

  // Writes the records that were skipped to `output`, in input order: JSONL and CSV byte for byte,
  // one JSON object with the file and the row for each row of Parquet. Compressed if the extension
  // says so. Appears when it is committed.
  virtual Result<StagedOutput> write_skipped(const std::filesystem::path& output) const;
};

// The rows of `set` from `first` on, `count` of them, counted from 0.
RecordSet slice(const RecordSet& set, std::uint64_t first, std::uint64_t count);

}  // namespace kin::data
