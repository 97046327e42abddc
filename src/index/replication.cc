#include "index/replication.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"

namespace kin::index {
namespace {

// Rows of one page of a digest.
constexpr std::size_t kDigestPage = 2'000;
// Rows whose contents are read together, where the bytes of a page are limited.
constexpr std::size_t kReadTogether = 64;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a key of {} is damaged", what)};
}

// Makes records from rows. The contents of entities are read together at the end. One thread only.
class RecordMaker {
 public:
  explicit RecordMaker(const TruthView& view) : view_(view) {}

  Status add(kv::Family family, std::string_view key, std::string_view value) {
    if (family == kEntitiesFamily) return add_entity(key, value);
    if (family == kForwardEdgesFamily) return add_edge(key, value);
    return add_fragment(family, key, value);
  }
  void add(Record record) { records_.push_back(std::move(record)); }

  std::size_t size() const { return records_.size(); }

  // Reads the contents of the entities so far.
  Status fill() {
    KIN_TRY(auto entities, view_.get_many(live_ids_));
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (!entities[i]) return Error{Code::kDataLoss, "the contents of an entity are missing"};
      std::get<EntityRecord>(records_[live_[i]]).entity = std::move(entities[i]->entity);
    }
    live_.clear();
    live_ids_.clear();
    return Done{};
  }
  Result<std::vector<Record>> finish() {
    KIN_RETURN_IF_ERROR(fill());
    return std::move(records_);
  }
  // How many records from the first on have `most` bytes, or more with the last of them; nothing if
  // all have fewer. Call fill() before; records are looked at once.
  std::optional<std::size_t> count_of(std::size_t most) {
    if (most == 0) return std::nullopt;  // a caller of an older version has no limit
    for (; measured_ < records_.size(); ++measured_) {
      bytes_ += size_of(records_[measured_]);
      if (bytes_ >= most) return measured_ + 1;
    }
    return std::nullopt;
  }
  void keep_first(std::size_t count) {
    records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(count), records_.end());
  }

 private:
  Status add_entity(std::string_view key, std::string_view value) {
    KIN_TRY(const HeadRow row, decode_head(value));
    const auto id = decode_entity_key(key);
    if (!id) return damaged("entities");
    // Contents are read later, all at once: finish() puts them into these records.
    if (!row.deleted) {
      live_.push_back(records_.size());
      live_ids_.push_back(*id);
    }
    EntityRecord record{.deleted = row.deleted,
                        .version = row.head.version,
                        .partition = row.head.partition,
                        .assigned = row.head.assigned};
    record.entity.id = *id;
    add(std::move(record));
    return Done{};
  }

  Status add_edge(std::string_view bytes, std::string_view value) {
    KIN_TRY(const EdgeRow row, decode_edge(value));
    const auto key = decode_forward_key(bytes);
    if (!key) return damaged("forward_edges");
    KIN_TRY(StoredEdge stored, view_.assemble_edge(*key, row));
    // A tombstone is the id alone, so that equal states have equal bytes.
    if (row.deleted) stored.edge = {.id = std::move(stored.edge.id)};
    add(EdgeRecord{.edge = std::move(stored.edge), .deleted = row.deleted, .version = row.version});
    return Done{};
  }

  Status add_fragment(kv::Family family, std::string_view bytes, std::string_view value) {
    KIN_TRY(FragmentRow row, decode_fragment(value));
    const auto key = decode_fragment_key(family, bytes);
    if (!key) return damaged("fragments");
    FragmentRecord record{.id = key->id,
                          .to = key->to,
                          .fragment = {.time = key->time, .text = std::move(row.text)},
                          .content = key->content,
                          .deleted = row.deleted,
                          .version = row.version};
    if (family == kEdgeFragmentsFamily) {
      KIN_TRY(record.name, view_.name(key->name));
    }
    add(std::move(record));
    return Done{};
  }

  const TruthView& view_;
  std::vector<Record> records_;
  std::vector<std::size_t> live_;  // entities without their contents, among the records
  std::vector<DocId> live_ids_;
  std::size_t measured_ = 0;  // records whose bytes are counted
  std::size_t bytes_ = 0;
};

// The row of a changed thing. Nothing for a change of owners.
std::optional<std::pair<kv::Family, std::string>> row_of(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kEntityPut:
    case ChangeKind::kEntityRemoved:
    case ChangeKind::kEntityAssigned: return std::pair(kEntitiesFamily, entity_key(change.id));
    case ChangeKind::kEdgePut:
    case ChangeKind::kEdgeRemoved:
      return std::pair(kForwardEdgesFamily, forward_key(edge_of(change)));
    case ChangeKind::kEntityFragmentAdded:
    case ChangeKind::kEntityFragmentRemoved:
      return std::pair(kEntityFragmentsFamily,
                       fragment_key(kEntityFragmentsFamily, fragment_of(change)));
    case ChangeKind::kEdgeFragmentAdded:
    case ChangeKind::kEdgeFragmentRemoved:
      return std::pair(kEdgeFragmentsFamily,
                       fragment_key(kEdgeFragmentsFamily, fragment_of(change)));
    case ChangeKind::kOwnerAssigned: return {};
  }
  KIN_UNREACHABLE();
}

// The row of a change's tombstone, if that was purged since. Nothing for other changes.
std::optional<std::string> tombstone_of(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kEntityRemoved:
      return encode(HeadRow{.deleted = true,
                            .head = {.partition = change.partition, .version = change.version}});
    case ChangeKind::kEdgeRemoved:
      return encode(EdgeRow{.deleted = true, .version = change.version});
    case ChangeKind::kEntityFragmentRemoved:
    case ChangeKind::kEdgeFragmentRemoved:
      return encode(FragmentRow{.deleted = true, .version = change.version});
    case ChangeKind::kEntityPut:
    case ChangeKind::kEntityAssigned:
    case ChangeKind::kEdgePut:
    case ChangeKind::kEntityFragmentAdded:
    case ChangeKind::kEdgeFragmentAdded:
    case ChangeKind::kOwnerAssigned: return {};
  }
  KIN_UNREACHABLE();
}

// Reads one page of the log. One thread only.
class LogReader {
 public:
  LogReader(const TruthView& view, const LogRequest& request)
      : view_(view), request_(request), maker_(view) {}

  Result<LogPage> run() {
    KIN_TRY(const ChangesPage page, view_.changes({.after = request_.after,
                                                   .limit = request_.limit,
                                                   .partitions = request_.partitions}));
    LogPage read{.up_to = page.up_to};
    std::vector<std::pair<std::size_t, Lsn>> ends;  // of the records of each change
    for (const Change& change : page.changes) {
      KIN_RETURN_IF_ERROR(add(change));
      ends.emplace_back(maker_.size(), change.lsn);
      if (ends.size() % kReadTogether != 0) continue;
      KIN_TRY(const bool full, end_where_full(ends, read));
      if (full) break;
    }
    KIN_TRY([[maybe_unused]] const bool full, end_where_full(ends, read));
    KIN_TRY(read.records, maker_.finish());
    return read;
  }

 private:
  // Ends the page with the first change that fills it, if there is one.
  Result<bool> end_where_full(const std::vector<std::pair<std::size_t, Lsn>>& ends, LogPage& page) {
    KIN_RETURN_IF_ERROR(maker_.fill());
    const auto count = maker_.count_of(request_.bytes);
    if (!count) return false;
    using End = std::pair<std::size_t, Lsn>;
    const auto last = std::ranges::lower_bound(ends, *count, {}, &End::first);
    maker_.keep_first(last->first);
    page.up_to = last->second;
    return true;
  }

  Status add(const Change& change) {
    const auto row = row_of(change);
    if (!row) return add_owner(change.partition);
    KIN_RETURN_IF_ERROR(add_row(row->first, row->second, change));
    return enters(change) ? add_rows_of(change.id) : Status(Done{});
  }

  Status add_row(kv::Family family, const std::string& key, const Change& change) {
    // A thing that changed several times is in the page once, in its present state.
    if (!seen_.emplace(family, key).second) return Done{};
    KIN_TRY(const auto value, view_.row(family, key));
    if (value) return maker_.add(family, key, *value);
    // The deletion itself may be a later change of this page.
    seen_.erase({family, key});
    const auto tombstone = tombstone_of(change);
    return tombstone ? maker_.add(family, key, *tombstone) : Status(Done{});
  }

  // A reader of some partitions has not seen the edges and fragments that come with this entity.
  bool enters(const Change& change) const {
    if (!request_.partitions || change.kind != ChangeKind::kEntityAssigned) return false;
    return request_.partitions->contains(change.partition) &&
           !request_.partitions->contains(change.former);
  }

  Status add_rows_of(const DocId& id) {
    for (const kv::Family family : kRecordFamilies) {
      kv::Cursor at = view_.rows(family, kv::keys_with(id.view()));
      for (; at.valid(); at.next()) {
        if (!seen_.emplace(family, at.key()).second) continue;
        KIN_RETURN_IF_ERROR(maker_.add(family, at.key(), at.value()));
      }
      KIN_RETURN_IF_ERROR(at.status());
    }
    return Done{};
  }

  // A shard that gives up a partition does not know the next owner, so that is not in the log.
  Status add_owner(PartitionId partition) {
    if (!seen_.emplace(kOwnersFamily, owner_key(partition)).second) return Done{};
    KIN_TRY(const auto value, view_.row(kOwnersFamily, owner_key(partition)));
    if (!value) return Done{};
    KIN_TRY(const Ownership owner, decode_owner(*value));
    if (owner.owned) maker_.add(OwnerRecord{.partition = partition, .epoch = owner.epoch});
    return Done{};
  }

  const TruthView& view_;
  const LogRequest& request_;
  RecordMaker maker_;
  std::set<std::pair<kv::Family, std::string>> seen_;
};

// Walks the rows of a partition by entity, then by family, then by key. One thread only.
class PartitionRows {
 public:
  PartitionRows(const TruthView& view, PartitionId partition, std::optional<std::uint8_t> bucket)
      : view_(view), partition_(partition), bucket_(bucket) {
    for (const kv::Family family : kRecordFamilies) cursors_.push_back(view.rows(family));
  }

  // Goes on after the row that position() named.
  Status resume(std::string_view position) {
    if (position.size() <= kIdBytes || position[0] < 0 ||
        static_cast<std::size_t>(position[0]) >= cursors_.size())
      return Error{Code::kInvalidArgument, "the position in an export is damaged"};
    const auto family = static_cast<std::size_t>(position[0]);
    // Rows come by entity, then by family: for this entity the earlier families are done, this one
    // continues after the key, and the later ones have not begun.
    const std::string key(position.substr(1));
    const std::string id = key.substr(0, kIdBytes);
    for (std::size_t i = 0; i < cursors_.size(); ++i)
      seek(i, i < family ? kv::keys_with(id).to : i > family ? std::optional(id) : key + '\0');
    return Done{};
  }

  // Goes on after all rows of this entity.
  void skip_past(const DocId& id) {
    const auto past = kv::keys_with(id.view()).to;
    for (std::size_t i = 0; i < cursors_.size(); ++i) seek(i, past);
    current_.reset();
  }

  // The next row of the partition is at cursor(); false at the end.
  Result<bool> next() {
    if (current_) cursors_[*current_].next();
    for (;;) {
      KIN_RETURN_IF_ERROR(find_least());
      if (!current_) return false;
      const std::string_view id = cursor().key().substr(0, kIdBytes);
      if (id != id_) KIN_RETURN_IF_ERROR(see_entity(std::string(id)));
      if (is_member_) return true;
      // An entity of another partition is skipped with all its rows.
      const auto past = kv::keys_with(id_).to;
      for (std::size_t i = 0; i < cursors_.size(); ++i)
        if (cursors_[i].valid() && cursors_[i].key().starts_with(id_)) seek(i, past);
    }
  }

  const kv::Cursor& cursor() const { return cursors_[*current_]; }
  kv::Family family() const { return kRecordFamilies[*current_]; }
  DocId id() const { return *decode_entity_key(id_); }
  std::string position() const {
    return std::string(1, static_cast<char>(*current_)).append(cursor().key());
  }

 private:
  // Nothing: past the last key.
  void seek(std::size_t cursor, const std::optional<std::string>& key) {
    cursors_[cursor].seek(key ? *key : std::string(64, '\xff'));  // keys have at most 52 bytes
  }

  Status find_least() {
    current_.reset();
    for (std::size_t i = 0; i < cursors_.size(); ++i) {
      if (!cursors_[i].valid()) {
        KIN_RETURN_IF_ERROR(cursors_[i].status());
        continue;
      }
      if (cursors_[i].key().size() < kIdBytes) return damaged("the truth");
      const auto id_at = [&](std::size_t at) { return cursors_[at].key().substr(0, kIdBytes); };
      if (!current_ || id_at(i) < id_at(*current_)) current_ = i;
    }
    return Done{};
  }

  Status see_entity(std::string id) {
    id_ = std::move(id);
    is_member_ = false;
    if (bucket_ && bucket_of(*decode_entity_key(id_)) != *bucket_) return Done{};
    KIN_TRY(const auto row, view_.row(kEntitiesFamily, id_));
    PartitionId partition{};  // of things whose entity never existed
    if (row) {
      KIN_TRY(const HeadRow head, decode_head(*row));
      partition = head.head.partition;
    }
    is_member_ = partition == partition_;
    return Done{};
  }

  const TruthView& view_;
  PartitionId partition_;
  std::optional<std::uint8_t> bucket_;
  std::vector<kv::Cursor> cursors_;     // of kRecordFamilies
  std::optional<std::size_t> current_;  // the cursor with the least key
  std::string id_;                      // of the entity that the row belongs to
  bool is_member_ = false;              // whether that is in the partition
};

void add(Hash128& sum, const Hash128& hash) {
  sum.low += hash.low;
  sum.high += hash.high;
}

}  // namespace

Result<LogPage> read_log(const TruthView& view, const LogRequest& request) {
  return LogReader(view, request).run();
}

std::uint8_t bucket_of(const DocId& id) {
  return static_cast<std::uint8_t>(hash64(id.view()));
}

Result<ExportPage> export_partition(const TruthView& view, const ExportRequest& request) {
  // Pages without rows would never reach the end.
  if (request.limit == 0) return Error{Code::kInvalidArgument, "a page must have a limit above 0"};
  PartitionRows rows(view, request.partition, request.bucket);
  if (request.after) KIN_RETURN_IF_ERROR(rows.resume(*request.after));
  RecordMaker maker(view);
  ExportPage page;
  std::vector<std::string> positions;  // of the records
  const auto end_where_full = [&]() -> Result<bool> {
    KIN_RETURN_IF_ERROR(maker.fill());
    const auto count = maker.count_of(request.bytes);
    if (!count) return false;
    maker.keep_first(*count);
    page.next = positions[*count - 1];
    return true;
  };
  for (;;) {
    KIN_TRY(const bool more, rows.next());
    if (!more) break;
    KIN_RETURN_IF_ERROR(maker.add(rows.family(), rows.cursor().key(), rows.cursor().value()));
    positions.push_back(rows.position());
    if (maker.size() == request.limit) {
      page.next = positions.back();
      break;
    }
    if (maker.size() % kReadTogether != 0) continue;
    KIN_TRY(const bool full, end_where_full());
    if (full) break;
  }
  KIN_TRY([[maybe_unused]] const bool full, end_where_full());
  KIN_TRY(page.records, maker.finish());
  return page;
}

Result<std::vector<DocId>> partition_ids(const TruthView& view,
                                         const PartitionIdsRequest& request) {
  PartitionRows rows(view, request.partition, {});
  if (request.after) rows.skip_past(*request.after);
  std::vector<DocId> ids;
  while (ids.size() < request.limit) {
    KIN_TRY(const bool more, rows.next());
    if (!more) break;
    ids.push_back(rows.id());
    rows.skip_past(ids.back());
  }
  return ids;
}

// Sums of hashes do not depend on the order, and every thing is in the sum once.
Result<PartitionDigest> digest_partition(const TruthView& view, PartitionId partition) {
  PartitionDigest digest{};
  PartitionRows rows(view, partition, {});
  std::string bytes;
  for (bool more = true; more;) {
    RecordMaker maker(view);
    std::vector<std::uint8_t> buckets;
    while (buckets.size() < kDigestPage) {
      KIN_TRY(more, rows.next());
      if (!more) break;
      KIN_RETURN_IF_ERROR(maker.add(rows.family(), rows.cursor().key(), rows.cursor().value()));
      buckets.push_back(bucket_of(rows.id()));
    }
    KIN_TRY(const auto records, maker.finish());
    for (std::size_t i = 0; i < records.size(); ++i) {
      bytes.clear();
      append_record(bytes, records[i]);
      add(digest[buckets[i]], hash128(bytes));
    }
  }
  return digest;
}

Result<PartitionSizes> count_partitions(const TruthView& view) {
  PartitionSizes sizes;
  kv::Cursor at = view.rows(kMembersFamily);
  for (; at.valid(); at.next()) {
    const auto partition = decode_member_partition(at.key());
    if (!partition) return damaged("members");
    ++sizes[*partition];
  }
  KIN_RETURN_IF_ERROR(at.status());
  return sizes;
}

}  // namespace kin::index
