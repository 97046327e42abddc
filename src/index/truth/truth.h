// The source of truth of a shard: entities, edges, fragments, and the log of changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "index/mutation.h"
#include "index/record.h"
#include "index/truth/change.h"
#include "index/truth/name_table.h"
#include "index/truth/view.h"
#include "index/truth/writer.h"
#include "kv/key_value_store.h"

namespace kin::index {

// Its folder in the folder of its shard.
inline constexpr const char* kTruthFolder = "truth";

struct TruthOptions {
  kv::StoreOptions::Mode mode = kv::StoreOptions::Mode::kOpenOrMake;
  std::uint64_t block_cache_bytes = std::uint64_t{64} << 20;
  int background_jobs = 2;
  kv::StoreOptions::Engine engine = kv::StoreOptions::Engine::kRocksDb;
  Disk* disk = nullptr;    // nullptr: the system's. Must outlive the truth
  Clock* clock = nullptr;  // as StoreOptions::clock
  std::uint64_t log_bytes = std::uint64_t{32} << 20;  // that opening after a crash reads again
  kv::BatchObserver observer = {};  // as StoreOptions::observer: every change of the truth
};
// How the store of a truth is opened, for a program that changes its rows without opening the truth.
kv::StoreOptions truth_store_options(const TruthOptions& options);
// The key of the main family under which a copy stores how far it has come in the log of its owner.
// Directories have it, too. Whoever applies shipped batches chooses its bytes.
inline constexpr std::string_view kShippedKey = "shipped";

// An entity that is a near-duplicate of another.
struct Repeat {
  std::size_t mutation = 0;  // index of the mutation that puts it
  DocId of = {};
  double similarity = 0;
};

struct Applied {
  Lsn first = 0;  // LSNs of the changes; first > last: nothing changed
  Lsn last = 0;
  std::vector<Outcome> outcomes = {};  // one per mutation or record
  std::vector<Repeat> repeats = {};    // linked or refused, if the shard looks for near-duplicates
  bool repeated = false;  // this request or a later one was applied before: there are no outcomes
};

// The LSN up to which each follower has applied the log, by name.
using Followers = std::map<std::string, Lsn, std::less<>>;

// The sequence of the last request of each open session.
using Sessions = std::map<std::uint64_t, std::uint64_t>;
// Opening one more session closes the oldest.
inline constexpr std::size_t kMostSessions = 10'000;

// Every derived index is a function of the truth and follows it by the changelog. Thread-safe;
// writers wait for each other.
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

  // Applies all mutations or, with an error, none: a crash or a reader never sees a part of a
  // batch. Durable when it returns, unless the options say otherwise.
  Result<Applied> apply(std::span<const Mutation> mutations, const ApplyOptions& options = {});
  // The same for mutations that have passed check().
  Result<Applied> apply_checked(std::span<const Mutation> mutations, const ApplyOptions& options);
  // The same for records of another shard. Ownership is not checked: a copy is not the owner.
  Result<Applied> apply(std::span<const Record> records, const ApplyOptions& options = {});

  Result<TruthView> view() const;
  Lsn last_lsn() const;

  // Records, durably, that the follower has applied the log up to `applied`; an older LSN is
  // ignored. The first call registers the follower: kFailedPrecondition if changes after `applied`
  // are trimmed. kInvalidArgument for an empty name or an LSN that the log has not reached.
  Status acknowledge(std::string_view follower, Lsn applied);
  // A follower that is not registered is not an error.
  Status drop_follower(std::string_view follower);
  Followers followers() const;
  Owners owners() const;

  // The number of a new session, durably. Numbers are never used again.
  Result<std::uint64_t> open_session();
  // Whether this request, or a later one of its session, was applied. kFailedPrecondition for a
  // session that is not open.
  Result<bool> was_applied(const RequestId& request) const;

  // A copy: applies batches that the truth of the owner handed over (kv/shipped_batch.h), all or
  // none, and stores `position` with them. Returns the changes in them after the last one that this
  // truth had, by LSN. Nothing else may write to a copy.
  Result<std::vector<Change>> apply_shipped(std::span<const std::string_view> batches,
                                            std::string_view position);
  // The position of the last batches; nothing if it is no copy.
  Result<std::optional<std::string>> shipped_position() const { return store_->get(kShippedKey); }
  // Writes a copy of the rows to an empty folder; see KeyValueStore::checkpoint().
  Status copy_rows(const std::filesystem::path& folder) { return store_->checkpoint(folder); }

  // Removes entities with their edges and fragments, and leaves no tombstones: as if the shard had
  // never held them. For copies that are given up. Ownership is not checked.
  Result<Applied> forget(std::span<const DocId> ids);

  // Forgets changes up to `lsn`, but none that a registered follower still needs.
  Status trim_changes(Lsn lsn);
  // Forgets tombstones before `version`. Records older than that must not arrive afterwards, and
  // copies that are compared by digests must purge alike.
  Status purge_deletions(const Version& version);

  kv::StoreUsage usage() const { return store_->usage(); }
  Status flush() { return store_->flush(); }
  // No other call may follow, and views must be gone.
  Status close() { return store_->close(); }

 private:
  explicit Truth(std::unique_ptr<kv::KeyValueStore> store) : store_(std::move(store)) {}
  // What a batch of the owner changes beside rows: names are learnt before it is written, the rest
  // is read again after it.
  struct ShippedEffects;
  Status learn_shipped(std::string_view bytes, ShippedEffects& effects);
  Status load_owners();
  Status load_followers();
  Status load_sessions();
  // Whether the request was applied before.
  Result<bool> is_repeated(const RequestId& request) const;
  template <typename Item>
  Result<Applied> write(std::span<const Item> items, const ApplyOptions& options);
  Status purge_family(kv::Family family, const Version& before);

  std::unique_ptr<kv::KeyValueStore> store_;
  NameTable names_;
  mutable std::mutex mutex_;  // guards what follows, and writing
  Counters counters_;
  Owners owners_;
  Followers followers_;
  Sessions sessions_;
};

}  // namespace kin::index
