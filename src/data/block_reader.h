// Reads JSONL and CSV files in blocks of records, for several threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_buffer.h"
#include "base/result.h"
#include "data/byte_source.h"
#include "data/input.h"
#include "data/position.h"

namespace kin::data {

// Adjacent records of one file. Reuse it: buffers are kept.
struct Block {
  struct Record {
    std::uint32_t begin;  // in `bytes`
    std::uint32_t end;    // after the line end, if it has one
    std::uint32_t line;   // counted from first_line
  };

  ByteBuffer bytes;  // at least kJsonPadding bytes longer than `size`
  std::size_t size = 0;
  std::vector<Record> records;  // without blank lines; their rows are first_row, first_row + 1, …
  std::uint64_t number = 0;     // blocks are numbered in input order
  std::uint32_t file = 0;
  std::uint64_t first_line = 0;  // lines of a file count from 1
  std::uint64_t first_row = 0;
  std::uint64_t offset = 0;       // of `bytes` in the decompressed file
  std::uint64_t input_bytes = 0;  // of the file on disk

  std::string_view text(const Record& record) const {
    return {bytes.data() + record.begin, record.end - record.begin};
  }

 private:
  friend class BlockReader;
  std::uint64_t charged = 0;  // of BlockReaderOptions::large_bytes
};

struct BlockReaderOptions {
  Position start = {};
  std::size_t block_bytes = 2 << 20;
  std::function<bool()> pause = {};
  // Limit of the bytes that all threads together may hold in blocks that are larger than usual
  // because of a long record. A thread that reads such a block waits until the others have released
  // theirs. 0: one such block for each thread.
  std::uint64_t large_bytes = 0;
  // A longer record is an error (kResourceExhausted) that gives its length. 0: 4 GB.
  std::uint64_t longest_record = 0;
};

// Reads files in order. Block boundaries do not depend on the threads. The first record of each CSV
// file, its header, is left out. A block belongs to the reader that filled it, and must not outlive
// it while threads wait in next(). Thread-safe.
class BlockReader {
 public:
  // `inputs` must outlive the reader and have one format, not Parquet.
  BlockReader(std::span<const Input> inputs, BlockReaderOptions options);

  // Fills `block` with the next records. False at the end, or when told to pause. After an error
  // every call returns that error; `block` has its number even then.
  Result<bool> next(Block& block);

  // Where next() continues. Call it when no thread reads.
  Position position() const;
  bool finished() const;
  // The first row of each file that was opened.
  std::vector<std::uint64_t> first_rows() const;
  // The longest record so far in bytes, including one that was refused.
  std::uint64_t longest_record() const;
  // Releases the charge of `block`. A thread that ends calls it for its block.
  void release(Block& block);

 private:
  Result<bool> next_of_files(Block& block);
  Status open_file();
  Result<bool> fill(Block& block);
  bool is_line_part(const Block& block, std::size_t searched) const;
  Status read_more(Block& block);
  Status check_length(const Block& block);
  Error too_long(std::uint64_t length);
  void wait_for_room(std::uint64_t bytes);
  void charge(Block& block);
  Status split(Block& block);
  void add(Block& block, std::size_t begin, const struct RecordSpan& record);

  std::span<const Input> inputs_;
  BlockReaderOptions options_;
  mutable std::mutex mutex_;
  Position position_;
  std::uint64_t blocks_ = 0;
  std::optional<Error> failure_;
  std::unique_ptr<ByteSource> source_;
  std::string left_over_;  // read, but after the last complete record of the previous block
  bool at_end_of_file_ = false;
  bool skip_header_ = false;
  std::vector<std::uint64_t> first_rows_;
  std::uint64_t longest_record_ = 0;
  std::mutex held_mutex_;  // guards the two below; taken while mutex_ is held, never before it
  std::condition_variable released_;
  std::uint64_t held_ = 0;  // large blocks that threads work on
};

}  // namespace kin::data
