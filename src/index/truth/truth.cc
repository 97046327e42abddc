#include "index/truth/truth.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::index {
namespace {

Result<Counters> read_counters(const std::optional<std::string>& row) {
  if (!row) return Counters{};
  return decode_counters(*row);
}

// Texts and vectors are most of the bytes. Stored apart from the keys they are written twice (log
// and file), and not again for every level of tables. The log is kept short, so that opening after
// a crash is fast.
kv::StoreOptions tuned_options(const TruthOptions& options) {
  const std::uint64_t small = std::uint64_t{8} << 20;
  kv::StoreOptions store{.mode = options.mode,
                         .families = truth_family_names(),
                         .block_cache_bytes = options.block_cache_bytes,
                         .write_buffer_bytes = std::uint64_t{16} << 20,
                         .log_bytes = options.log_bytes,
                         .background_jobs = options.background_jobs,
                         .engine = options.engine,
                         .disk = options.disk,
                         .clock = options.clock,
                         .observer = options.observer};
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

// Nothing if the row is not a tombstone.
Result<std::optional<Version>> tombstone_version(kv::Family family, std::string_view value) {
  const auto if_deleted = [](bool deleted, const Version& version) {
    return deleted ? std::optional(version) : std::nullopt;
  };
  if (family == kEntitiesFamily) {
    KIN_TRY(const HeadRow row, decode_head(value));
    return if_deleted(row.deleted, row.head.version);
  }
  if (family == kForwardEdgesFamily) {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    return if_deleted(row.deleted, row.version);
  }
  KIN_TRY(const FragmentRow row, decode_fragment(value));
  return if_deleted(row.deleted, row.version);
}

}  // namespace

kv::StoreOptions truth_store_options(const TruthOptions& options) {
  return tuned_options(options);
}

Result<std::unique_ptr<Truth>> Truth::open(const std::filesystem::path& folder,
                                           const TruthOptions& options) {
  KIN_TRY(auto store, kv::KeyValueStore::open(folder, tuned_options(options)));
  std::unique_ptr<Truth> truth(new Truth(std::move(store)));
  KIN_TRY(const auto row, truth->store_->get(kCountersKey, kCountersFamily));
  KIN_TRY(truth->counters_, read_counters(row));
  KIN_RETURN_IF_ERROR(truth->names_.load(*truth->store_, truth->counters_.names));
  KIN_RETURN_IF_ERROR(truth->load_owners());
  KIN_RETURN_IF_ERROR(truth->load_followers());
  KIN_RETURN_IF_ERROR(truth->load_sessions());
  return truth;
}

Status Truth::load_owners() {
  KIN_TRY(const TruthView now, view());
  KIN_TRY(owners_, now.owners());
  return Done{};
}

Status Truth::load_followers() {
  followers_.clear();
  const auto add = [&](std::string_view key, std::string_view value) -> Status {
    KIN_TRY(const Lsn applied, decode_follower(value));
    followers_.emplace(key.substr(kFollowersPrefix.size()), applied);
    return Done{};
  };
  return store_->for_each(kFollowersPrefix, add, kFollowersFamily);
}

Status Truth::load_sessions() {
  const auto add = [&](std::string_view key, std::string_view value) -> Status {
    const auto session = decode_session_key(key);
    if (!session) return Error{Code::kDataLoss, "a key of sessions is damaged"};
    KIN_TRY(sessions_[*session], decode_session(value));
    return Done{};
  };
  return store_->for_each(kSessionsPrefix, add, kSessionsFamily);
}

Result<std::uint64_t> Truth::open_session() {
  const std::lock_guard lock(mutex_);
  // The newest session is never closed, so its number tells which were used.
  const std::uint64_t session = sessions_.empty() ? 1 : sessions_.rbegin()->first + 1;
  kv::Batch batch(*store_);
  batch.put(session_key(session), encode_session(0), kSessionsFamily);
  const bool full = sessions_.size() >= kMostSessions;
  if (full) batch.remove(session_key(sessions_.begin()->first), kSessionsFamily);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  if (full) sessions_.erase(sessions_.begin());
  sessions_.emplace(session, 0);
  return session;
}

Result<bool> Truth::is_repeated(const RequestId& request) const {
  const auto known = sessions_.find(request.session);
  if (known == sessions_.end())
    return Error{Code::kFailedPrecondition,
                 fmt::format("session {} is not open (open a new one)", request.session)};
  return request.sequence <= known->second;
}

Result<bool> Truth::was_applied(const RequestId& request) const {
  const std::lock_guard lock(mutex_);
  return is_repeated(request);
}

Result<Applied> Truth::forget(std::span<const DocId> ids) {
  const std::lock_guard lock(mutex_);
  TruthWriter writer(
      {.store = *store_, .names = names_, .owners = owners_, .counters = counters_});
  Applied applied{.first = counters_.last_lsn + 1};
  for (const DocId& id : ids) KIN_RETURN_IF_ERROR(writer.forget(id));
  applied.last = writer.counters().last_lsn;
  kv::Batch batch(*store_);
  writer.finish(batch);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  counters_ = writer.counters();
  return applied;
}

Result<Applied> Truth::apply(std::span<const Mutation> mutations, const ApplyOptions& options) {
  for (const Mutation& mutation : mutations) KIN_RETURN_IF_ERROR(check(mutation));
  return write(mutations, options);
}

Result<Applied> Truth::apply_checked(std::span<const Mutation> mutations,
                                     const ApplyOptions& options) {
  return write(mutations, options);
}

Result<Applied> Truth::apply(std::span<const Record> records, const ApplyOptions& options) {
  for (const Record& record : records) KIN_RETURN_IF_ERROR(check(record));
  return write(records, options);
}

template <typename Item>
Result<Applied> Truth::write(std::span<const Item> items, const ApplyOptions& options) {
  const std::lock_guard lock(mutex_);
  if (options.request) {
    KIN_TRY(const bool repeated, is_repeated(*options.request));
    if (repeated)
      return Applied{.first = counters_.last_lsn + 1, .last = counters_.last_lsn, .repeated = true};
  }
  TruthWriter writer({.store = *store_,
                      .names = names_,
                      .owners = owners_,
                      .counters = counters_,
                      .map_epoch = options.map_epoch,
                      .together = options.together});
  // One read for all rows that the batch needs, instead of one for each item.
  KIN_RETURN_IF_ERROR(writer.fetch(items));
  Applied applied{.first = counters_.last_lsn + 1};
  applied.outcomes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    writer.set_age(i < options.ages.size() ? options.ages[i] : 0);
    KIN_TRY(const Outcome outcome, writer.apply(items[i]));
    applied.outcomes.push_back(outcome);
  }
  applied.last = writer.counters().last_lsn;
  // A request that changes nothing is recorded too: sent again, it might change something.
  if (applied.first > applied.last && !options.request) return applied;
  kv::Batch batch(*store_);
  writer.finish(batch);
  if (options.request)
    batch.put(session_key(options.request->session), encode_session(options.request->sequence),
              kSessionsFamily);
  // Readers of the batch must know its names. If the write fails, nobody reads the batch, and the
  // store refuses later batches that could reuse the numbers.
  for (const std::string& name : writer.new_names()) names_.add(name);
  KIN_RETURN_IF_ERROR(store_->write(batch, {.sync = options.sync}));
  // Only once the batch is written, because these must agree with the stored rows.
  counters_ = writer.counters();
  for (const auto& [partition, owner] : writer.new_owners()) owners_[partition] = owner;
  if (options.request) sessions_[options.request->session] = options.request->sequence;
  return applied;
}

Result<TruthView> Truth::view() const {
  // Counters and rows are of one snapshot, so the view needs no lock.
  kv::Snapshot snapshot(*store_);
  KIN_TRY(const auto row, snapshot.get(kCountersKey, kCountersFamily));
  KIN_TRY(const Counters counters, read_counters(row));
  return TruthView(names_, std::move(snapshot), counters);
}

Lsn Truth::last_lsn() const {
  const std::lock_guard lock(mutex_);
  return counters_.last_lsn;
}

// Losing an acknowledgement in a crash only keeps changes longer, so it need not be on the device
// at once. Registering must: the follower counts on the log from then on.
Status Truth::acknowledge(std::string_view follower, Lsn applied) {
  if (follower.empty()) return Error{Code::kInvalidArgument, "a follower needs a name"};
  const std::lock_guard lock(mutex_);
  if (applied > counters_.last_lsn)
    return Error{Code::kInvalidArgument,
                 fmt::format("follower {} has applied change {}, but the log ends at {}", follower,
                             applied, counters_.last_lsn)};
  const auto known = followers_.find(follower);
  if (known != followers_.end() && applied <= known->second) return Done{};
  if (known == followers_.end() && applied < counters_.trimmed)
    return Error{Code::kFailedPrecondition,
                 fmt::format("follower {} needs changes after {}, and the log begins after {} "
                             "(import an export first)",
                             follower, applied, counters_.trimmed)};
  kv::Batch batch(*store_);
  batch.put(follower_key(follower), encode_follower(applied), kFollowersFamily);
  KIN_RETURN_IF_ERROR(store_->write(batch, {.sync = known == followers_.end()}));
  followers_.insert_or_assign(std::string(follower), applied);
  return Done{};
}

Status Truth::drop_follower(std::string_view follower) {
  const std::lock_guard lock(mutex_);
  const auto known = followers_.find(follower);
  if (known == followers_.end()) return Done{};
  kv::Batch batch(*store_);
  batch.remove(follower_key(follower), kFollowersFamily);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  followers_.erase(known);
  return Done{};
}

Followers Truth::followers() const {
  const std::lock_guard lock(mutex_);
  return followers_;
}

Owners Truth::owners() const {
  const std::lock_guard lock(mutex_);
  return owners_;
}

Status Truth::trim_changes(Lsn lsn) {
  const std::lock_guard lock(mutex_);
  // Followers still need the changes that they have not applied.
  Lsn up_to = std::min(lsn, counters_.last_lsn);
  for (const auto& [name, applied] : followers_) up_to = std::min(up_to, applied);
  if (up_to <= counters_.trimmed) return Done{};
  Counters after = counters_;
  after.trimmed = up_to;
  kv::Batch batch(*store_);
  batch.remove_range(change_key(counters_.trimmed + 1), change_key(up_to + 1), kChangelogFamily);
  // In the same batch: readers must not find the log shorter than the counters say.
  batch.put(kCountersKey, encode(after), kCountersFamily);
  KIN_RETURN_IF_ERROR(store_->write(batch));
  counters_ = after;
  return Done{};
}

Status Truth::purge_deletions(const Version& version) {
  const std::lock_guard lock(mutex_);
  for (const kv::Family family : kRecordFamilies)
    KIN_RETURN_IF_ERROR(purge_family(family, version));
  return Done{};
}

Status Truth::purge_family(kv::Family family, const Version& before) {
  // Batches need not be one unit: purging twice does no harm.
  constexpr std::size_t kBatchRows = 10'000;
  kv::Batch batch(*store_);
  kv::Cursor at = store_->cursor({}, family);
  for (; at.valid(); at.next()) {
    KIN_TRY(const auto version, tombstone_version(family, at.value()));
    if (version && *version < before) batch.remove(at.key(), family);
    if (batch.size() < kBatchRows) continue;
    KIN_RETURN_IF_ERROR(store_->write(batch));
    batch.clear();
  }
  KIN_RETURN_IF_ERROR(at.status());
  return store_->write(batch);
}

}  // namespace kin::index
