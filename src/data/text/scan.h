// Scans text files with several threads.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "data/block_reader.h"
#include "data/dataset.h"
#include "data/text/record_reader.h"
#include "data/text/skip_log.h"

namespace kin::data {

// Keeps the first failure in input order, of several threads. Thread-safe.
class FirstFailure {
 public:
  // `place` orders failures: the number of the block.
  void add(std::uint64_t place, Error error);
  bool any() const { return any_; }
  Status status() const;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::uint64_t place_ = 0;
  std::optional<Error> error_;
};

// Reads the wanted records of one block after another. One thread only.
class BlockScanner {
 public:
  BlockScanner(const ScanOptions& options, std::span<const Input> inputs,
               std::unique_ptr<RecordReader> reader, SkipLog& skipped);

  // The batch of the block's records, valid until the next call; an error if one is malformed and
  // must not be skipped.
  Result<const BatchContent*> read(const Block& block);
  // Adds the columns that a record had to `found`, which has one element per column.
  void add_found(std::vector<bool>& found) const;

 private:
  void begin(const Block& block);
  Status add(const Block& block, std::size_t record);
  std::string where(const Block& block, std::size_t record) const;

  const ScanOptions& options_;
  std::span<const Input> inputs_;
  std::unique_ptr<RecordReader> reader_;
  SkipLog& skipped_;
  ValueArena arena_;
  BatchContent content_;
  std::vector<std::string_view> values_;
};

}  // namespace kin::data
