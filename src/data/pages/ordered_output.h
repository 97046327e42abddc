// A Parquet file written by several threads, in an order that does not depend on them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/page_maker.h"

namespace kin::data {

// A column chunk of the output, as far as it has been written.
struct OutputChunk {
  struct Location {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint64_t first_row = 0;  // of the row group
  };
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> data_begin;
  bool has_dictionary = false;
  std::uint64_t bytes = 0;
  std::uint64_t unpacked_bytes = 0;
  std::uint64_t values = 0;
  std::uint64_t rows = 0;
  std::uint64_t removed_nulls = 0;
  bool nulls_unknown = false;
  bool changed = false;
  std::vector<Location> locations;  // of data pages
  std::map<std::pair<PageKind, Encoding>, std::uint64_t> pages;
};

// The part of a chunk that one worker makes.
struct OutputPiece {
  std::size_t sequence = 0;
  OutputChunk* chunk = nullptr;
  FilteredPages content;
};

// Writes pieces in the order of their sequence numbers, 0, 1, 2 and so on. Pieces that are finished
// early wait in memory, up to a limit; beyond it their workers wait. Thread-safe.
class OrderedOutput {
 public:
  OrderedOutput(File file, std::uint64_t waiting_bytes)
      : file_(std::move(file)), limit_(waiting_bytes) {}

  // Appends bytes to the file. Not while pieces are being given.
  Status write(std::string_view bytes);
  // Passes on the content of a piece so far. If it is the piece's turn, the content is written and
  // emptied. Every sequence number must be finished once, by a worker that got its number in order.
  Status give(OutputPiece& piece, bool finished);
  // Makes waiting workers return after another has failed.
  void fail();
  std::uint64_t bytes() const { return end_; }
  Status close() { return file_.close(); }

 private:
  Status write_piece(OutputPiece& piece);
  Status write_waiting(std::unique_lock<std::mutex>& lock);

  File file_;
  std::uint64_t limit_;
  std::uint64_t end_ = 0;  // of the file; changed by the worker whose turn it is
  std::mutex mutex_;       // guards the following
  std::condition_variable turned_;
  std::size_t turn_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::map<std::size_t, OutputPiece> waiting_;
  bool failed_ = false;
};

}  // namespace kin::data
