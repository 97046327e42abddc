// What is so? The entities of one shard, their edges and fragments, and every change in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "index/mutation.h"
#include "index/truth/name_table.h"
#include "index/truth/view.h"
#include "index/truth/writer.h"
#include "kv/key_value_store.h"

namespace kin::index {

// Where it is in the folder of its shard.
inline constexpr const char* kTruthFolder = "truth";

struct TruthOptions {
  kv::StoreOptions::Mode mode = kv::StoreOptions::Mode::kOpenOrMake;
  std::uint64_t epoch = 0;  // of the versions that this owner gives
  std::uint64_t block_cache_bytes = std::uint64_t{64} << 20;
  int background_jobs = 2;
  kv::StoreOptions::Engine engine = kv::StoreOptions::Engine::kRocksDb;
  Disk* disk = nullptr;  // nullptr: the system's. Must outlive the truth
  std::uint64_t log_bytes = std::uint64_t{32} << 20;  // that opening after a crash reads again
};

// An entity that says almost the same as another.
struct Repeat {
  std::size_t mutation = 0;  // that puts it, among those that were given
  DocId of = {};
  double similarity = 0;
};

struct Applied {
  Lsn first = 0;  // of the changes that were made; first > last: none
  Lsn last = 0;
  std::vector<Outcome> outcomes = {};  // one a mutation
  std::vector<Repeat> repeats = {};    // linked or refused, by a shard that looks for them
};

// The source of truth of a shard: every derived index is a function of it, and follows it by the
// changelog. Thread-safe; those who write wait for each other.
//
//   KIN_TRY(auto truth, Truth::open("shard/truth", {}));
//   const std::vector<Mutation> mutations{PutEntity{.entity = article}, PutEdge{.edge = cites}};
//   KIN_TRY(const Applied applied, truth->apply(mutations));
//   KIN_TRY(const TruthView view, truth->view());
//   KIN_TRY(const auto found, view.get(article.id));
class Truth {
 public:
  static Result<std::unique_ptr<Truth>> open(const std::filesystem::path& folder,
                                             const TruthOptions& options);

  // All of them or, with an error, none: a crash, or a reader, never sees a part. Durable when it
  // returns, unless told otherwise.
  Result<Applied> apply(std::span<const Mutation> mutations, const kv::WriteOptions& options = {});

  Result<TruthView> view() const;
  Lsn last_lsn() const;

  // Forgets changes up to `lsn`, which every follower must have seen.
  Status trim_changes(Lsn lsn);
  // Forgets the marks of deletions before `version`. What is older must not arrive after that.
  Status purge_deletions(const Version& version);

  kv::StoreUsage usage() const { return store_->usage(); }
  Status flush() { return store_->flush(); }
  // Nothing else may be called after, and views must be gone.
  Status close() { return store_->close(); }

 private:
  explicit Truth(std::unique_ptr<kv::KeyValueStore> store) : store_(std::move(store)) {}
  Status purge_family(kv::Family family, const Version& before);

  std::unique_ptr<kv::KeyValueStore> store_;
  NameTable names_;
  std::uint64_t epoch_ = 0;
  mutable std::mutex mutex_;  // guards counters_, and writing
  Counters counters_;
};

}  // namespace kin::index
