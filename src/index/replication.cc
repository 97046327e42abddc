#include "index/replication.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"
#include "index/truth/partition_rows.h"
#include "index/truth/record_maker.h"

namespace kin::index {
namespace {

// Rows whose contents are read together, where the bytes of a page are limited.
constexpr std::size_t kReadTogether = 64;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a key of {} is damaged", what)};
}

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

}  // namespace

Result<LogPage> read_log(const TruthView& view, const LogRequest& request) {
  return LogReader(view, request).run();
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

Result<PartitionIds> partition_ids(const TruthView& view, const PartitionIdsRequest& request) {
  PartitionRows rows(view, request.partition, {});
  rows.stop_after(request.most_passed);
  if (request.after) rows.skip_past(*request.after);
  PartitionIds page;
  for (;;) {
    KIN_TRY(const bool more, rows.next());
    if (!more) break;
    page.ids.push_back(rows.id());
    if (page.ids.size() == request.limit) {
      page.next = page.ids.back();
      return page;
    }
    rows.skip_past(page.ids.back());
  }
  if (rows.has_stopped()) page.next = rows.id();
  return page;
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
