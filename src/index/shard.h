// One complete shard: the truth, and the text and vector indexes that follow it.
//
//   KIN_TRY(auto shard, Shard::open("shard", options));
//   KIN_TRY(const Applied applied, shard->apply(mutations));    // durable, and found by searches
//   KIN_TRY(const ShardHits hits, search(shard->view(), {.text = "tides"}));
//   while (*shard->step()) {}                                   // what a background thread does
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "index/text_document.h"
#include "index/truth/truth.h"
#include "index/vector/space.h"
#include "index/view.h"

namespace kin::index {

struct SpaceOptions {
  std::string name = "main";
  VectorSpace space = {};
  VectorOrigin origin = VectorOrigin::kGiven;
  std::shared_ptr<const VectorSource> source = {};  // needed if vectors are computed
  std::uint64_t generation = 0;  // of a computed space's source: another one makes other vectors
};

// Entities that say almost the same as one that is there already.
struct NearDuplicateOptions {
  double threshold = 0.8;  // least similarity of their word shingles
  enum class Action : std::uint8_t {
    kLink,   // they get an edge kNearDuplicateOf to it, of the weight of the similarity
    kRefuse  // they are not taken in: Effect::kDuplicate
  };
  Action action = Action::kLink;
};
// Edges by this name are the shard's: those of an entity are set anew whenever it is put.
inline constexpr std::string_view kNearDuplicateOf = "near_duplicate_of";

struct ShardOptions {
  std::string language = "english";  // of the stems; see text/stems.h
  Bm25 ranking = {};
  std::vector<SpaceOptions> spaces = {};  // each of a name of its own
  std::optional<NearDuplicateOptions> near_duplicates = {};
  std::uint32_t cell_size = 200;  // target number of vectors in a cell
  TruthOptions truth = {};
  Clock* clock = &system_clock();
};

// What the text index of a shard holds: fields title, text and tags; facets type (entity, edge,
// entity_fragment, edge_fragment), tag, source, and attribute, whose values are "name=value".
TextOptions text_options(const ShardOptions& options);

struct SpaceStats {
  std::string name = {};
  std::uint64_t generation = 0;
  VectorStats vectors = {};
  double building = 1;  // how much of a new generation is there; 1: none is being made
};

struct ShardStats {
  Counters counters = {};
  std::uint64_t text_documents = 0;
  std::uint64_t text_bytes = 0;
  std::size_t text_segments = 0;
  std::vector<SpaceStats> spaces = {};
  kv::StoreUsage truth = {};
  Lsn last_lsn = 0;
  Lsn checkpoint_lsn = 0;  // from which on a crash would replay
};

// What check() found to differ; empty if all agree.
struct CheckReport {
  std::uint64_t entities = 0;
  std::uint64_t edges = 0;
  std::uint64_t fragments = 0;
  std::uint64_t text_documents = 0;
  std::uint64_t vectors = 0;
  std::vector<std::string> faults = {};  // in plain words, the first thousand
};

// Every index is a function of the truth: it follows the changelog, keeps how far it came in its
// checkpoint, and is made anew where its checkpoint is missing, damaged or of other options.
// Thread-safe: writers wait for each other, readers for nobody. Has no thread of its own, but opens
// with as many as there are cores.
class Shard {
 public:
  // Opens or makes; after a crash it replays what came after the last checkpoint.
  static Result<std::unique_ptr<Shard>> open(const std::filesystem::path& folder,
                                             ShardOptions options);
  ~Shard();  // without a checkpoint, as a crash

  // All of them or, with an error, none. Durable, and in every view taken after it returned.
  // kInvalidArgument also for vectors that do not fit their space; vectors of other spaces are kept
  // for when there is one. An error of a space's source leaves everything as it was. If an index
  // cannot follow what the truth has taken, nothing more is until the shard is opened again.
  Result<Applied> apply(std::span<const Mutation> mutations, const kv::WriteOptions& options = {});

  ShardView view() const;

  // Does one piece of what is due: merges text segments, steps a vector index, goes on with a space
  // that is made anew, writes a checkpoint. False if nothing is due.
  Result<bool> step();

  // Makes a computed space anew with another source and generation, by step(), beside what is
  // searched until then; or adds a space. Takes the place of a generation still in the making.
  Status replace_space(SpaceOptions space);

  // Writes what the indexes hold, so that opening has nothing to replay; and forgets the changes
  // that nobody follows any more.
  Status checkpoint();

  ShardStats stats() const;

  // Makes every index anew from the truth and compares. `progress` gets a share from 0 to 1.
  Result<CheckReport> check(const std::function<void(double)>& progress = {}) const;

  // A checkpoint, and the end. Views must be gone.
  Status close();

 private:
  class State;
  explicit Shard(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::index
