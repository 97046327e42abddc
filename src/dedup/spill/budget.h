// How a run divides its memory.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// What the scan keeps of a record, in bytes. Chunks come on top: their number depends on the text.
struct KeyBytes {
  explicit KeyBytes(const DedupOptions& options);
  std::uint64_t bands = 0;
  std::uint64_t hashes = 0;
  std::uint64_t signature = 0;
};

// Of `max_memory`, what the seen set of --skip-seen may use; 0 if there is none.
std::uint64_t seen_memory(const DedupOptions& options, std::uint64_t max_memory);
// The same for the seen set and for requests to other machines, where remote files are read.
std::uint64_t reserved_memory(const DedupOptions& options, std::uint64_t max_memory);
// The smallest --max-memory of which these leave `own` bytes to the run itself.
std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own);

// What a run holds however little it has to do: the program with its libraries, and what each
// thread works with.
inline constexpr std::uint64_t kProgramBytes = 46 << 20;
inline constexpr std::uint64_t kThreadBytes = 9 << 20;

// What requests to other machines hold: bytes on their way, and connections.
inline constexpr std::uint64_t kRemoteBytes = 32 << 20;

// Shares of the rest of --max-memory, without what is reserved. What a stage holds
// together stays below the whole: the scan holds its reader, spills and signatures; later stages
// what the scan left, and their own working memory.
struct Budget {
  explicit Budget(std::uint64_t total);

  // The memory of a reader that scans so many records: its share, and what their keys do not need
  // of theirs.
  std::uint64_t scanner(const DedupOptions& options, std::uint64_t records) const;

  std::uint64_t reader;
  std::uint64_t spills;
  std::uint64_t signatures;
  std::uint64_t stage;
  std::uint64_t writer;
};

// What a run holds in memory for every record, whatever the budget, if one in two of them goes:
// classes, components, decisions, the values of the keep policy and of SimHash, and the indexes of
// what is cut.
inline std::uint64_t bytes_a_record(const DedupOptions& options) {
  return 40 + (options.keep.kind == KeepPolicy::Kind::kFirst ? 0 : 16) +
         (options.detectors.simhash ? 40 : 0) + (options.detectors.chunk ? 16 : 0) +
         (options.skip_seen ? 9 : 0) + (options.cut ? 50 : 0) + (options.append ? 16 : 0);
}

// What a run holds however few records there are.
inline constexpr std::uint64_t kFixedBytes = kProgramBytes + 2 * kThreadBytes;

// How many threads the memory has room for, however short the records are.
int threads_for_memory(int threads, std::uint64_t max_memory);
// How many of `threads` may compare and write texts of this weight (long_texts.h) at a time, where
// `own` bytes hold `tables` for the records.
int threads_for_text(int threads, std::uint64_t own, std::uint64_t weight, std::uint64_t tables);

// What the scan leaves for long texts and records, and for the pages of Parquet, of `own` bytes:
// keys and signatures may take the rest, and every thread what it works with. In `threads` the
// first counts too.
std::uint64_t scan_room(std::uint64_t own, int threads);

// What is known of the memory that a run needs, whatever is spilled. Bytes; 0 where nothing is
// known or needed.
struct MemoryNeeds {
  std::uint64_t records = 0;
  std::uint64_t references = 0;      // held to be looked for in texts
  std::uint64_t heaviest_text = 0;   // text_weight()
  std::uint64_t longest_record = 0;  // of JSONL and CSV
  std::uint64_t scan = 0;            // of the reader, on one thread
  data::WriteMemory write = {};      // of the writer
};

// Of them, what the writer needs on one thread.
std::uint64_t writer_bytes(const MemoryNeeds& needs);

// The least --max-memory, in MiB, with which a run with these needs is not refused, whatever the
// number of its threads.
std::uint64_t least_mebibytes(const DedupOptions& options, const MemoryNeeds& needs);
// An error, with that figure and what it is needed for, if --max-memory is less.
Status check_needs(const DedupOptions& options, const MemoryNeeds& needs);

// How much memory the pairs of the grouping may use.
struct PairMemory {
  const DedupOptions& options;
  std::uint64_t records = 0;
  std::uint64_t fixed = 0;  // kFixedBytes, and what else is held

  std::uint64_t bytes(std::uint64_t max_memory) const;
  // The smallest --max-memory, in MiB, with which bytes() is at least `needed`.
  std::uint64_t least_mebibytes(std::uint64_t needed) const;
};

}  // namespace kin::dedup
