// Datasets: records of JSONL, Parquet and CSV files, read in parallel and written out again as
// they went in.
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
#include "data/input.h"
#include "data/output/staged_output.h"
#include "data/position.h"

namespace kin::data {

enum class OnError { kFail, kSkip };

struct ScanOptions {
  // Top-level names, or dotted paths into nested records ("meta.title"); a column that has the dot
  // in its own name goes first.
  std::vector<std::string> columns;
  // How many of the last columns may be missing: they are null where they are.
  std::size_t optional_columns = 0;
  int threads = 1;
  OnError on_error = OnError::kFail;
  // Visit just these rows.
  const RecordSet* only = nullptr;
  // Where to go on. A dataset opened since then must be given what the earlier one remembered
  // (restore()), or it knows nothing of the files and records before.
  Position start = {};
  // Asked between blocks of uncompressed JSONL and CSV, between row groups of Parquet, and between
  // files of any kind; true stops the scan there. Never asked by two threads at once.
  std::function<bool()> pause = {};
};

struct ScanEnd {
  Position position;
  bool finished = false;
};

// Called from up to `threads` threads at once, worker < threads. Batches come in no particular
// order. Rows are numbered from 0 over all inputs in order, the same in every scan.
using Visitor = std::function<Status(const Batch& batch, int worker)>;

struct DatasetOptions {
  int threads = 1;
  // For the reader and writer itself, DuckDB included. Not for what visitors keep.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::filesystem::path temporary_folder;
};

// Records that could not be read and were left out. They keep their row numbers, and reach no
// visitor and no output.
struct SkippedRecords {
  std::uint64_t count = 0;
  // The first 100 by row.
  std::vector<std::pair<RecordId, std::string>> messages;
  // All of them, sorted.
  std::vector<RecordId> rows;
};

// What a later process must know of the scans of an earlier one to go on where it stopped.
struct ScanMemory {
  std::vector<std::uint64_t> first_rows;
  std::optional<std::uint64_t> rows;
  SkippedRecords skipped;
};

struct WriteReport {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // of the output
  // What the output could not keep, in plain words. Empty if it kept everything.
  std::vector<std::string> notes;
};

struct WriteOptions {
  int threads = 1;
  // Other work, for threads that have nothing left to write: each of them calls it once, several
  // at once. Its error is that of the write.
  std::function<Status()> beside = {};
};

struct SampleOptions {
  std::vector<std::string> columns;
  std::uint64_t max_bytes = 16 << 20;
  OnError on_error = OnError::kFail;
  // Also handed the sampled records, on the caller's thread, if set.
  Visitor visitor = {};
};

// Some records from all over the inputs.
struct Sample {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;       // of the inputs on disk, which the rows stand for
  std::uint64_t total_rows = 0;  // of all inputs; an estimate unless `exact`
  bool exact = false;
  std::vector<std::vector<std::uint32_t>> lengths;  // by column, in bytes of text; 0 for null
};

// One operation at a time; each of them uses several threads inside.
class Dataset {
 public:
  // `inputs` have one format (find_inputs() sees to it). Inputs are never written to.
  static Result<std::unique_ptr<Dataset>> open(std::vector<Input> inputs, DatasetOptions options);
  virtual ~Dataset() = default;

  virtual const std::vector<Input>& inputs() const = 0;
  // Instead of DatasetOptions::memory_bytes, from the next operation on.
  virtual void limit_memory(std::uint64_t bytes) = 0;
  // Top-level names. Of JSONL those of the first records, in order of appearance.
  virtual Result<std::vector<std::string>> columns() = 0;

  // Visits every record. Fails at the first record, by row, that is malformed or lacks a column,
  // unless such records are to be skipped; and when the visitor does. No records at all is an
  // error. Columns that are no text are handed out as text.
  virtual Result<ScanEnd> scan(const ScanOptions& options, const Visitor& visitor) = 0;

  // Known for Parquet at once, for others after a whole scan.
  virtual std::optional<std::uint64_t> rows() const = 0;
  // First row of each file, as far as files have been scanned.
  virtual std::vector<std::uint64_t> first_rows() const = 0;
  virtual const SkippedRecords& skipped() const = 0;
  virtual ScanMemory memory() const = 0;
  virtual void restore(ScanMemory memory) = 0;

  virtual Result<Sample> sample(const SampleOptions& options) = 0;

  // An error if it is plain without reading the records that they cannot be written to `output`.
  virtual Status check_output(const std::filesystem::path& output) const;
  // Writes the records in `keep`, all of which there must be, in input order, to `output` ("-":
  // JSONL on standard output), whole or not at all. The format goes by the extension; the bytes do
  // not depend on `threads` or on the memory there is.
  Result<WriteReport> write(const RecordSet& keep, const std::filesystem::path& output,
                            int threads);
  // The same, but `output` appears only when the staged output is committed.
  virtual Result<std::pair<StagedOutput, WriteReport>> write_staged(
      const RecordSet& keep, const std::filesystem::path& output, const WriteOptions& options) = 0;
};

}  // namespace kin::data
