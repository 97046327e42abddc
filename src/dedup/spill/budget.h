// Divides the memory of a run.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"

namespace kin::dedup {

// Bytes that the scan keeps per record. Chunks are added: their number depends on the text.
struct KeyBytes {
  explicit KeyBytes(const DedupOptions& options);
  std::uint64_t bands = 0;
  std::uint64_t hashes = 0;
  std::uint64_t signature = 0;
};

// The part of `max_memory` for the seen set of --skip-seen; 0 if there is none.
std::uint64_t seen_memory(const DedupOptions& options, std::uint64_t max_memory);
// The same for the buffers of the store of --append.
std::uint64_t known_memory(const DedupOptions& options, std::uint64_t max_memory);
// The same for all of them, and for requests to other machines if remote files are read.
std::uint64_t reserved_memory(const DedupOptions& options, std::uint64_t max_memory);
// The smallest --max-memory in which these leave `own` bytes to the run itself.
std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own);

// The memory of a run without work: the program with its libraries, and the working memory of each
// thread.
inline constexpr std::uint64_t kProgramBytes = 46 << 20;
inline constexpr std::uint64_t kThreadBytes = 9 << 20;

// The memory of requests to other machines: bytes in flight, and connections.
inline constexpr std::uint64_t kRemoteBytes = 32 << 20;

// Shares of --max-memory without the reserved part. The memory of a stage stays below the
// whole: the scan holds its reader, spills and signatures; later stages hold the results of the
// scan and their own working memory.
struct Budget {
  explicit Budget(std::uint64_t total);

  // The memory of a reader that scans this many records: its share, and the part of the keys' share
  // that these do not need.
  std::uint64_t scanner(const DedupOptions& options, std::uint64_t records) const;

  std::uint64_t reader;
  std::uint64_t spills;
  std::uint64_t signatures;
  std::uint64_t stage;
  std::uint64_t writer;
};

// The memory of a run per record, whatever the budget, if one record in two is removed:
// classes, components, decisions, the values of the keep policy and of SimHash, and the indexes
// of cuts.
inline std::uint64_t bytes_a_record(const DedupOptions& options) {
  return 40 + (options.keep.kind == KeepPolicy::Kind::kFirst ? 0 : 16) +
         (options.detectors.simhash ? 41 : 0) + (options.detectors.chunk ? 16 : 0) +
         (options.skip_seen ? 9 : 0) + (options.cut ? 50 : 0) + (options.append ? 16 : 0);
}

// The memory of a run without records.
inline constexpr std::uint64_t kFixedBytes = kProgramBytes + 2 * kThreadBytes;

// The number of threads that fit into the memory, however short the records are.
int threads_for_memory(int threads, std::uint64_t max_memory);
// How many of `threads` may compare and write texts of this weight (long_texts.h) at a time, if
// `own` bytes include `tables` for the records.
int threads_for_text(int threads, std::uint64_t own, std::uint64_t weight, std::uint64_t tables);

// The known memory needs of a run that cannot be spilled. In bytes; 0 if nothing is known or
// needed.
struct MemoryNeeds {
  std::uint64_t records = 0;
  std::uint64_t references = 0;      // references that texts are searched for
  std::uint64_t heaviest_text = 0;   // text_weight()
  std::uint64_t longest_record = 0;  // of JSONL and CSV
  std::uint64_t scan = 0;            // of the reader, on one thread
  bool pages = false;                // the reader holds pages of Parquet beside the texts
  data::WriteMemory write = {};      // of the writer
  int threads = 0;                   // that the user asks for; 0: as many as there is memory for
};

// The part of `own` bytes that the scan has for long texts and records, and for the pages of
// Parquet: keys and signatures may take the rest, and every thread its working memory. `threads`
// includes the first one.
std::uint64_t scan_room(const DedupOptions& options, const MemoryNeeds& needs, std::uint64_t own,
                        int threads);

// The writer's part of the needs on one thread.
std::uint64_t writer_bytes(const MemoryNeeds& needs);

// The least --max-memory, in MiB, that is enough for these needs, whatever the number of
// threads, or for needs.threads of them.
std::uint64_t least_mebibytes(const DedupOptions& options, const MemoryNeeds& needs);
// An error, with that figure and the reason, if --max-memory is less.
Status check_needs(const DedupOptions& options, const MemoryNeeds& needs);

// How much memory the pairs of the grouping may use.
struct PairMemory {
  const DedupOptions& options;
  std::uint64_t records = 0;
  std::uint64_t fixed = 0;  // kFixedBytes, and other memory in use

  std::uint64_t bytes(std::uint64_t max_memory) const;
  // The smallest --max-memory, in MiB, with which bytes() is at least `needed`.
  std::uint64_t least_mebibytes(std::uint64_t needed) const;
};

}  // namespace kin::dedup
