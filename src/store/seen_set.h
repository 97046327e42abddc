// A set of ids that is larger than memory, never gives a wrong answer and survives crashes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "store/seen/id.h"

namespace kin::store {

struct SeenOptions {
  enum class Mode {
    kOpenOrMake,  // to read and write
    kOpen,        // to read and write; kNotFound if there is no set
    kFresh,       // to read and write; an existing set is emptied
    kRead,        // to read, as it is now; may be open for writing elsewhere. kNotFound if none
  };
  Mode mode = Mode::kOpenOrMake;
  // The kind of ids; kFailedPrecondition if the set holds the other kind. Nothing: the kind of the
  // existing set, numbers for a new one.
  std::optional<IdKind> kind = std::nullopt;
  // Bounds the table of recent ids, the filters and the page index; at least kSeenLeastMemory.
  // Filters that do not fit are read from disk, those of the largest runs first.
  std::uint64_t max_memory = std::uint64_t{1} << 30;
  // The expected number of ids, if it is known: a hint for the size of the table of recent ids. The
  // set may grow beyond it.
  std::uint64_t expected_ids = 0;
  // The most ids in the table before it is written out as a run; 0: derived from max_memory.
  std::uint64_t table_ids = 0;
  // The most ids in one file of a run.
  std::uint64_t piece_ids = 4'000'000;
  // Write out and merge on a thread that the set starts: inserts continue meanwhile, also for
  // callers without threads of their own. Off: on the caller's thread, during the insert that makes
  // it necessary, so that a run can be repeated call by call.
  bool background = true;
  // Seeds the hash of strings of a new set; nothing: a random seed.
  std::optional<std::uint64_t> seed = std::nullopt;
  Disk* disk = &system_disk();
  // The reader waits by this clock if a writer replaces files while they are opened. Nothing: the
  // reader tries again at once.
  Clock* clock = nullptr;
};

inline constexpr std::uint64_t kSeenLeastMemory = std::uint64_t{8} << 20;

struct SeenStats {
  std::uint64_t ids = 0;
  std::uint64_t recent_ids = 0;  // of them in the table, not yet in a run
  std::uint64_t runs = 0;
  std::uint64_t pieces = 0;  // files of the runs
  std::uint64_t filter_bytes = 0;
  std::uint64_t resident_filter_bytes = 0;
  std::uint64_t memory_bytes = 0;  // table, resident filters, page index, buffers at their largest
  std::uint64_t run_bytes = 0;     // on disk, by kind of file
  std::uint64_t filter_file_bytes = 0;
  std::uint64_t log_bytes = 0;
  double filter_bits_per_id = 0;
  // Since the set was opened:
  std::uint64_t filter_probes = 0;      // filters asked
  std::uint64_t filter_passes = 0;      // filters that let an id pass
  std::uint64_t page_reads = 0;         // pages of ids read for a look-up
  std::uint64_t hits = 0;               // look-ups answered by a run
  std::uint64_t filter_page_reads = 0;  // for filters that are not resident
  std::uint64_t flushes = 0;
  std::uint64_t merges = 0;      // finished
  std::uint64_t merged_ids = 0;  // written again by merges
  std::uint64_t commits = 0;
  std::uint64_t rebuilt_filters = 0;  // lost or damaged, rebuilt from the ids
};

class SeenReader;

// One writer, many readers: every function is for one thread at a time, except reader(), stats(),
// len() and empty(), which are thread-safe; each thread that reads beside the writer has its own
// SeenReader. A folder is open for writing once at a time, over all processes
// (kFailedPrecondition); others may open it with kRead.
//
// Every later look-up finds an inserted id at once, and the id is durable when a later commit()
// returns. After a crash everything committed is there; later inserts may be, and nothing else
// is.
//
// A failed write or sync poisons the set: all later inserts, commits and flushes fail, and their
// error says so. Committed ids are safe; look-ups still work; opening again recovers. A page or
// file with a wrong checksum gives kDataLoss: a wrong answer is never given.
//
//   KIN_TRY(auto set, SeenSet::open("crawl.seen", {}));
//   KIN_TRY(const bool is_new, set->insert(SeenId::number(42)));
//   KIN_RETURN_IF_ERROR(set->commit());
class SeenSet {
 public:
  static Result<std::unique_ptr<SeenSet>> open(const std::filesystem::path& folder,
                                               const SeenOptions& options);
  // Closes without reporting errors.
  virtual ~SeenSet() = default;
  SeenSet(const SeenSet&) = delete;
  SeenSet& operator=(const SeenSet&) = delete;

  virtual IdKind kind() const = 0;
  // The id of a string in this set; only for a set of strings.
  virtual SeenId id_of(std::string_view text) const = 0;

  virtual Result<bool> contains(SeenId id) = 0;
  // found[i] = 1 if ids[i] is in the set, 0 if not. Much faster by the thousand than one by one.
  virtual Status contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) = 0;

  // True if the id was not in the set.
  virtual Result<bool> insert(SeenId id) = 0;
  // was_new[i] = 1 if ids[i] was neither in the set nor earlier in `ids`. After an error some of
  // the ids may have been inserted.
  virtual Status insert(std::span<const SeenId> ids, std::span<std::uint8_t> was_new) = 0;

  // Returns once every insert before it is durable. Gives the number of ids that were ever
  // inserted, which is also the number of the last one.
  virtual Result<std::uint64_t> commit() = 0;
  // Commits, and writes the table out as a run.
  virtual Status flush() = 0;
  // Returns once all runs are merged into one, which makes look-ups fastest. Writes all ids again.
  // A set with a background thread merges all but the largest run after a second without inserts.
  virtual Status settle() = 0;
  // Commits, stops the background work and releases the folder. Nothing else may be called after.
  virtual Status close() = 0;

  virtual std::uint64_t len() const = 0;
  bool empty() const { return len() == 0; }
  virtual SeenStats stats() const = 0;

  // Visits every id once, in an unspecified order. Stops at the first error that `visit` returns.
  virtual Status for_each(const std::function<Status(SeenId)>& visit) = 0;

  // Reads every file and checks every checksum, the order of the ids and the counts: kDataLoss with
  // the file and the fault.
  virtual Status verify() = 0;

  virtual std::unique_ptr<SeenReader> reader() const = 0;

 protected:
  SeenSet() = default;
};

// Look-ups beside the writer: for one thread at a time; must not outlive its set. Sees every insert
// that happened before the call.
class SeenReader {
 public:
  virtual ~SeenReader() = default;
  virtual Result<bool> contains(SeenId id) = 0;
  virtual Status contains(std::span<const SeenId> ids, std::span<std::uint8_t> found) = 0;
};

}  // namespace kin::store
