// Finds the documents with a key, for keys in random order, dozens per document.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "store/seen/runs.h"

namespace kin::store {

struct KeyIndexOptions {
  Disk* disk = &system_disk();
  std::filesystem::path folder = {};
  // A quarter for the keys that are not in runs yet, the rest for filters; filters beyond it are
  // read from the disk.
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
};

// The keys that were added last are in memory, the others in sorted runs with filters: the files of
// a seen set, whose ids are pairs of a key and a number. An absent key costs no read.
//
// Everything in it can be computed from the documents, so nothing is written when keys are added.
// Runs have the keys of all documents below covered(); the caller adds those of the others again
// after opening. Thread-safe: look-ups run in parallel, changes one at a time.
class KeyIndex {
 public:
  // Makes a missing folder. kDataLoss if a file is damaged: the folder can be removed, and
  // covered() is 0 then.
  static Result<std::unique_ptr<KeyIndex>> open(const KeyIndexOptions& options);

  // The runs have the keys of documents with lower numbers, all of them.
  std::uint32_t covered() const;

  struct Pair {
    std::uint64_t key = 0;
    std::uint32_t number = 0;  // of a document that has it; not below covered()
  };
  // The same pair may be added twice.
  void add(std::span<const Pair> pairs);
  // Writes a run if memory is full, and merges runs a little. All keys of documents below `next`
  // have been added, and these documents are durable; there are no others. After an error every
  // later call fails, until the index is opened again.
  Status settle(std::uint32_t next);

  struct Match {
    std::uint32_t key = 0;  // its position among those that were asked for
    std::uint32_t number = 0;
    friend auto operator<=>(const Match&, const Match&) = default;
  };
  // The documents of `keys`, which strictly ascend: sorted, each once.
  Result<std::vector<Match>> find(std::span<const std::uint64_t> keys) const;

  // Reads every file and checks it.
  Status verify() const;
  // On disk.
  std::uint64_t bytes() const;

 private:
  // A key of the table; `next` is one more than the position of the next of its chain.
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
    std::uint32_t next = 0;
  };

  KeyIndex(const KeyIndexOptions& options, std::unique_ptr<SeenRuns> runs);
  std::size_t chain_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
  }
  void find_in_table(std::span<const std::uint64_t> keys, std::size_t first,
                     std::vector<Match>& matches) const;
  Status find_in_run(const RunView& run, std::span<const std::uint64_t> keys, std::size_t first,
                     std::vector<Match>& matches) const;
  Status write_run(std::uint32_t next);

  const std::size_t capacity_;
  int shift_ = 0;
  mutable std::shared_mutex mutex_;
  std::vector<std::uint32_t> chains_;  // one more than the position of the first entry; 0: none
  std::vector<Entry> entries_;
  std::unique_ptr<SeenRuns> runs_;
  std::optional<Error> failure_;
};

}  // namespace kin::store
