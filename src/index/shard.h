// One complete shard: the truth, and the text and vector indexes that follow it.
//
//   KIN_TRY(auto shard, Shard::open("shard", options));
//   KIN_TRY(const Applied applied, shard->apply(mutations));    // durable, and found by searches
//   KIN_TRY(const ShardHits hits, search(shard->view(), {.text = "tides"}));
//   while (shard->step()->did_work()) {}                        // what a background thread does
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "index/text_document.h"
#include "index/text_sketch.h"
#include "index/truth/truth.h"
#include "index/vector/space.h"
#include "index/view.h"

namespace kin::index {

struct SpaceOptions {
  std::string name = "main";
  VectorSpace space = {};
  VectorOrigin origin = VectorOrigin::kGiven;
  std::shared_ptr<const VectorSource> source = {};  // required if vectors are computed
  std::uint64_t generation = 0;  // of the source; a different source has a different generation
};

// How to treat an entity that is a near-duplicate of a stored one.
struct NearDuplicateOptions {
  double threshold = 0.8;  // least similarity of their word shingles
  enum class Action : std::uint8_t {
    kLink,   // add an edge kNearDuplicateOf, with the similarity as weight
    kRefuse  // do not store it: Effect::kDuplicate
  };
  Action action = Action::kLink;
};
// The shard replaces an entity's edges of this name whenever the entity is put.
inline constexpr std::string_view kNearDuplicateOf = "near_duplicate_of";

struct ShardOptions {
  std::string language = "english";  // of the stemmer; see text/stems.h
  Bm25 ranking = {};
  std::vector<SpaceOptions> spaces = {};  // with different names
  std::optional<NearDuplicateOptions> near_duplicates = {};
  // False: apply() treats near-duplicates as other entities. The caller asks for them by
  // near_texts(), of this shard and others.
  bool screens = true;
  std::uint32_t cell_size = 200;  // target number of vectors in a cell
  TruthOptions truth = {};
  Clock* clock = &system_clock();
  // The shard is a copy of another one: its truth changes by apply_shipped() alone, until become_owner().
  bool is_copy = false;
};

// The text index of a shard: fields title, text and tags; facets type (entity, edge,
// entity_fragment, edge_fragment), tag, source, and attribute, whose values are "name=value".
TextOptions text_options(const ShardOptions& options);

struct SpaceStats {
  std::string name = {};
  std::uint64_t generation = 0;
  VectorStats vectors = {};
  double building = 1;  // progress of a new generation; 1: none is being built
};

struct ShardStats {
  Counters counters = {};
  std::uint64_t text_documents = 0;
  std::uint64_t text_bytes = 0;
  std::size_t text_segments = 0;
  std::vector<SpaceStats> spaces = {};
  kv::StoreUsage truth = {};
  Lsn last_lsn = 0;
  Lsn checkpoint_lsn = 0;    // opening after a crash replays the changes after it
  Followers followers = {};  // they hold back the trimming of the log
  Owners owners = {};        // empty: the shard owns every partition
};

struct CheckReport {
  std::uint64_t entities = 0;
  std::uint64_t edges = 0;
  std::uint64_t fragments = 0;
  std::uint64_t text_documents = 0;
  std::uint64_t vectors = 0;
  std::vector<std::string> faults = {};  // the first thousand; empty: truth and indexes agree
};

// Every index is a function of the truth. It follows the changelog, and its checkpoint says how far
// it came. An index whose checkpoint is missing, damaged or of other options is rebuilt.
// Thread-safe: writers wait for each other, readers for nobody. Starts no thread, except that
// open() uses all cores.
class Shard {
 public:
  // Opens a shard, or makes one. After a crash it replays the changes after the last checkpoint.
  static Result<std::unique_ptr<Shard>> open(const std::filesystem::path& folder,
                                             ShardOptions options);
  virtual ~Shard() = default;  // writes no checkpoint, like a crash
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // Applies all mutations or, with an error, none. Durable when it returns, and in every later
  // view. kInvalidArgument also for vectors that do not fit their space; vectors of unknown spaces
  // are kept. If the source of a space fails, nothing is written. If an index cannot follow the
  // truth, all later calls fail until the shard is opened again.
  virtual Result<Applied> apply(std::span<const Mutation> mutations,
                                const ApplyOptions& options = {}) = 0;
  // The same for records of another shard (index/replication.h), in any order and any number of
  // times. Near-duplicates are not looked for: links are records too. Ownership is not checked.
  virtual Result<Applied> apply(std::span<const Record> records,
                                const ApplyOptions& options = {}) = 0;

  // Begins a session of requests that are applied once each; see ApplyOptions::request.
  virtual Result<std::uint64_t> open_session() = 0;
  // Whether this request was applied, or can never be: see Truth::was_applied().
  virtual Result<bool> was_applied(const RequestId& request) const = 0;

  // Removes entities as if the shard had never held them; see Truth::forget().
  virtual Status forget(std::span<const DocId> ids) = 0;

  // A copy: applies batches of the owner's truth and stores `position` with them, all or none; see
  // Truth::apply_shipped(). Found by searches when it returns. Other changes of a copy are
  // kFailedPrecondition.
  virtual Status apply_shipped(std::span<const std::string_view> batches,
                               std::string_view position) = 0;
  // The position of the last batches that were applied; nothing if there were none.
  virtual Result<std::optional<std::string>> shipped_position() const = 0;
  // A copy becomes the owner of its contents.
  virtual void become_owner() = 0;
  // Writes the rows of the truth as they are now to an empty folder, from which a shard can be opened
  // (as its kTruthFolder).
  virtual Status copy_truth(const std::filesystem::path& folder) = 0;

  virtual ShardView view() const = 0;

  // For a partition that will be given up: from now on the shard knows its documents by number, so
  // that searches for others need not read its rows to leave them out. Reads them once, which takes
  // long. Copies that arrive are known without it, and so is, after some steps, every partition that
  // others own. kFailedPrecondition if the log was trimmed meanwhile.
  virtual Status keep_apart(PartitionId partition) = 0;
  // It will not be given up. Does nothing to a partition that others own.
  virtual Status join_again(PartitionId partition) = 0;

  // Does one piece of background work: merges text segments, steps a vector index, continues a
  // space that is being built, or writes a checkpoint.
  virtual Result<StepOutcome> step() = 0;

  // Adds a space, or builds a new generation of one beside the searched one, by step(). Replaces a
  // generation that is still being built.
  virtual Status replace_space(SpaceOptions space) = 0;

  // Writes the state of the indexes, so that opening has nothing to replay, and trims the log as
  // far as registered followers allow.
  virtual Status checkpoint() = 0;

  // Registers a follower of the log, and records how far it has come; see Truth::acknowledge().
  virtual Status acknowledge(std::string_view follower, Lsn applied) = 0;
  virtual Status drop_follower(std::string_view follower) = 0;

  // For each sketch the stored texts that are as similar as the threshold of near_duplicates at
  // least, those with the most bands in common first, of these the oldest. Entities of other
  // partitions than `within` are left out. kFailedPrecondition if the shard does not look for
  // near-duplicates.
  virtual Result<std::vector<std::vector<NearText>>> near_texts(
      std::span<const TextSketch> sketches,
      const std::optional<std::set<PartitionId>>& within = {}) const = 0;

  virtual ShardStats stats() const = 0;

  // Rebuilds every index from the truth and compares. `progress` gets a share from 0 to 1.
  virtual Result<CheckReport> check(const std::function<void(double)>& progress = {}) const = 0;

  // Writes a checkpoint and closes the files. Views must be gone.
  virtual Status close() = 0;

 private:
  class State;
  Shard() = default;
};

}  // namespace kin::index
