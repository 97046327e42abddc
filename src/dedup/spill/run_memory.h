// The memory of each stage of a run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dedup/options.h"
#include "dedup/spill/budget.h"

namespace kin::dedup {

// The memory of a run with these options for its records, and the rest for other uses. In bytes.
class RunMemory {
 public:
  // `options` must outlive it.
  explicit RunMemory(const DedupOptions& options)
      : options_(options),
        budget_(options.max_memory - reserved_memory(options, options.max_memory)) {}

  const Budget& shares() const { return budget_; }
  // The memory that is neither reserved nor held.
  std::uint64_t own() const {
    const std::uint64_t all = options_.max_memory - reserved_memory(options_, options_.max_memory);
    return all - std::min(all, held_);
  }
  // Marks `bytes` as in use until the end of the run.
  void hold(std::uint64_t bytes) {
    held_ = bytes;
    budget_ = Budget(own());
  }
  std::uint64_t held() const { return held_; }
  // For every record, whatever the budget.
  std::uint64_t tables(std::uint64_t records) const { return records * bytes_a_record(options_); }

  // Memory for readers and the pages they keep: while pairs are searched for, while texts are read
  // (the keys are freed by then; signatures, tables and pairs are still there), and for a writer to
  // which readers left `kept` bytes of pages, beside `texts` bytes of texts.
  std::uint64_t beside_keys(std::uint64_t records) const;
  std::uint64_t for_texts(std::uint64_t records) const;
  std::uint64_t for_writer(std::uint64_t records, std::uint64_t kept, std::uint64_t texts) const;
  // Memory for kept inputs while pairs of this many bytes are grouped. `fixed` is kFixedBytes and
  // other memory in use.
  std::uint64_t beside_pairs(std::uint64_t records, std::uint64_t pairs, std::uint64_t fixed) const;

  // Memory for texts that are kept to be compared, if there are `needed` bytes of them and readers
  // have kept `pages` bytes of pages: the rest of for_texts() is left to readers. At most `most`.
  std::uint64_t of_texts(std::uint64_t records, std::uint64_t needed, std::uint64_t pages,
                         std::uint64_t most) const;

 private:
  std::uint64_t beside_texts(std::uint64_t records) const;
  // Memory without the program and its threads.
  std::uint64_t shared() const;

  const DedupOptions& options_;
  std::uint64_t held_ = 0;
  Budget budget_;
};

}  // namespace kin::dedup
