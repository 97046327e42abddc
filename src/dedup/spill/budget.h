// How a run divides its memory.
#pragma once

#include <cstdint>

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
// The smallest --max-memory of which the seen set leaves `own` bytes to the run itself.
std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own);

// Shares of --max-memory without what the seen set may use. What a stage holds together stays below
// the whole: the scan holds its reader, spills and signatures; later stages what the scan left, and
// their own working memory.
struct Budget {
  explicit Budget(std::uint64_t total)
      : reader(total / 4),
        spills(total * 3 / 10),
        signatures(total * 3 / 20),
        stage(total / 6),
        writer(total * 6 / 10) {}

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

// What a run holds however few records there are: the program and its readers.
inline std::uint64_t fixed_bytes(bool parquet) {
  return std::uint64_t{parquet ? 192U : 64U} << 20;
}

// Long texts and records. A text of so many bytes is held several times by the thread that works on
// it: as it was read, as words, as shingles, twice as a line of the audit log. Where texts are
// long, fewer threads work.
//
// What a run with `own` bytes and so many threads has room for, holding `tables` for its records.
struct LongTexts {
  std::uint64_t own = 0;
  std::uint64_t tables = 0;
  int threads = 1;

  // The longest text, and the longest record, of which all but the text is only read and written.
  std::uint64_t longest_text() const;
  std::uint64_t longest_record() const;
};
// The least memory with which longest_text() is at least `text`, however many threads there are.
std::uint64_t memory_for_text(std::uint64_t text, std::uint64_t tables);
// How many of `threads` may work on texts of this length at a time.
int threads_for_text(int threads, std::uint64_t own, std::uint64_t text, std::uint64_t tables);
// How many threads the memory has room for, however short the records are.
int threads_for_memory(int threads, std::uint64_t max_memory);

// How much memory the pairs of the grouping may use.
struct PairMemory {
  const DedupOptions& options;
  std::uint64_t records = 0;
  std::uint64_t fixed = 0;  // fixed_bytes()

  std::uint64_t bytes(std::uint64_t max_memory) const;
  // The smallest --max-memory, in MiB, with which bytes() is at least `needed`.
  std::uint64_t least_mebibytes(std::uint64_t needed) const;
};

}  // namespace kin::dedup
