#include "index/truth/truth.h"

#include <algorithm>

namespace kin::index {
namespace {

Result<Counters> read_counters(const std::optional<std::string>& row) {
  if (!row) return Counters{};
  return decode_counters(*row);
}

// Texts and vectors make up most of what is written; kept apart, they are written twice (log and
// file) and not once more for every level of tables. The log is short, so that opening after a
// crash is.
kv::StoreOptions store_options(const TruthOptions& options) {
  const std::uint64_t small = std::uint64_t{8} << 20;
  kv::StoreOptions store{.mode = options.mode,
                         .families = truth_family_names(),
                         .block_cache_bytes = options.block_cache_bytes,
                         .write_buffer_bytes = std::uint64_t{16} << 20,
                         .log_bytes = options.log_bytes,
                         .background_jobs = options.background_jobs,
                         .engine = options.engine,
                         .disk = options.disk};
  store.tuning["contents"] = {.write_buffer_bytes = std::uint64_t{64} << 20,
                              .apart_from_bytes = 256};
  store.tuning["vectors"] = {.write_buffer_bytes = std::uint64_t{32} << 20,
                             .apart_from_bytes = 256};
  store.tuning["summaries"] = {.write_buffer_bytes = small, .apart_from_bytes = 256};
  store.tuning["entity_fragments"] = {.apart_from_bytes = 256};
  store.tuning["edge_fragments"] = {.apart_from_bytes = 256};
  store.tuning["names"] = {.write_buffer_bytes = small};
  return store;
}

}  // namespace

Result<std::unique_ptr<Truth>> Truth::open(const std::filesystem::path& folder,
                                           const TruthOptions& options) {
  KIN_TRY(auto store, kv::KeyValueStore::open(folder, store_options(options)));
  std::unique_ptr<Truth> truth(new Truth(std::move(store)));
  truth->epoch_ = options.epoch;
  KIN_TRY(const auto row, truth->store_->get(kCountersKey, kCountersFamily));
  KIN_TRY(truth->counters_, read_counters(row));
  KIN_RETURN_IF_ERROR(truth->names_.load(*truth->store_, truth->counters_.names));
  return truth;
}

Result<Applied> Truth::apply(std::span<const Mutation> mutations, const kv::WriteOptions& options) {
  for (const Mutation& mutation : mutations) KIN_RETURN_IF_ERROR(check(mutation));
  const std::lock_guard lock(mutex_);
  TruthWriter writer({.store = *store_, .names = names_, .counters = counters_, .epoch = epoch_});
  KIN_RETURN_IF_ERROR(writer.fetch(mutations));
  Applied applied{.first = counters_.last_lsn + 1};
  applied.outcomes.reserve(mutations.size());
  for (const Mutation& mutation : mutations) {
    KIN_TRY(const Outcome outcome, writer.apply(mutation));
    applied.outcomes.push_back(outcome);
  }
  applied.last = writer.counters().last_lsn;
  if (applied.first > applied.last) return applied;
  kv::Batch batch(*store_);
  writer.finish(batch);
  // Readers of the batch must know its names. If writing it fails nobody reads it, and the store
  // takes no further batch that could use their numbers for others.
  for (const std::string& name : writer.new_names()) names_.add(name);
  KIN_RETURN_IF_ERROR(store_->write(batch, options));
  counters_ = writer.counters();
  return applied;
}

Result<TruthView> Truth::view() const {
  kv::Snapshot snapshot(*store_);
  KIN_TRY(const auto row, snapshot.get(kCountersKey, kCountersFamily));
  KIN_TRY(const Counters counters, read_counters(row));
  return TruthView(names_, std::move(snapshot), counters);
}

Lsn Truth::last_lsn() const {
  const std::lock_guard lock(mutex_);
  return counters_.last_lsn;
}

Status Truth::trim_changes(Lsn lsn) {
  const std::lock_guard lock(mutex_);
  const Lsn up_to = std::min(lsn, counters_.last_lsn);
  if (up_to <= counters_.trimmed) return Done{};
  Counters after = counters_;
  after.trimmed = up_to;
  kv::Batch batch(*store_);
  batch.remove_range(change_key(counters_.trimmed + 1), change_key(up_to + 1), kChangelogFamily);
  batch.put(kCountersKey, encode(after), kCountersFamily);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  counters_ = after;
  return Done{};
}

Status Truth::purge_deletions(const Version& version) {
  const std::lock_guard lock(mutex_);
  KIN_RETURN_IF_ERROR(purge_family(kEntitiesFamily, version));
  return purge_family(kForwardEdgesFamily, version);
}

Status Truth::purge_family(kv::Family family, const Version& before) {
  constexpr std::size_t kBatchRows = 10'000;
  kv::Batch batch(*store_);
  kv::Cursor at = store_->cursor({}, family);
  for (; at.valid(); at.next()) {
    bool old = false;
    if (family == kEntitiesFamily) {
      KIN_TRY(const HeadRow row, decode_head(at.value()));
      old = row.deleted && row.head.version < before;
    } else {
      KIN_TRY(const EdgeRow row, decode_edge(at.value()));
      old = row.deleted && row.version < before;
    }
    if (old) batch.remove(at.key(), family);
    if (batch.size() < kBatchRows) continue;
    KIN_RETURN_IF_ERROR(store_->write(batch));
    batch.clear();
  }
  KIN_RETURN_IF_ERROR(at.status());
  return store_->write(batch);
}

}  // namespace kin::index
