#include "index/digest.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "index/record.h"
#include "index/truth/entity_format.h"
#include "index/truth/entity_keys.h"
#include "index/truth/partition_rows.h"
#include "index/truth/record_maker.h"

namespace kin::index {
namespace {

// Rows whose contents are read together.
constexpr std::size_t kRowsTogether = 250;

enum class Sign : std::uint8_t { kAdd, kTakeOut };

// Adds records to a digest, or takes them out. One thread only; the view outlives it.
class DigestSum {
 public:
  DigestSum(const TruthView& view, PartitionDigest& digest, Sign sign)
      : digest_(digest), sign_(sign), maker_(view) {}

  Status add(kv::Family family, const kv::Cursor& at, std::uint8_t bucket) {
    KIN_RETURN_IF_ERROR(maker_.add(family, at.key(), at.value()));
    buckets_.push_back(bucket);
    return buckets_.size() < kRowsTogether ? Status(Done{}) : finish();
  }

  Status finish() {
    KIN_TRY(const auto records, maker_.finish());
    for (std::size_t i = 0; i < records.size(); ++i) {
      bytes_.clear();
      append_record(bytes_, records[i]);
      const Hash128 hash = hash128(bytes_);
      Hash128& sum = digest_[buckets_[i]];
      sum.low += sign_ == Sign::kAdd ? hash.low : 0 - hash.low;
      sum.high += sign_ == Sign::kAdd ? hash.high : 0 - hash.high;
    }
    buckets_.clear();
    return Done{};
  }

 private:
  PartitionDigest& digest_;
  const Sign sign_;
  RecordMaker maker_;
  std::vector<std::uint8_t> buckets_;  // of the records in maker_
  std::string bytes_;
};

Result<bool> is_member(const TruthView& view, PartitionId partition, const DocId& id) {
  KIN_TRY(const auto row, view.row(kEntitiesFamily, entity_key(id)));
  if (!row) return partition == PartitionId{};  // of things whose entity never existed
  KIN_TRY(const HeadRow head, decode_head(*row));
  return head.head.partition == partition;
}

// The rows of those of the entities that are in the partition.
Status sum_entities(const TruthView& view, PartitionId partition, const std::set<DocId>& ids,
                    DigestSum& sum) {
  std::vector<kv::Cursor> cursors;
  for (const kv::Family family : kRecordFamilies) cursors.push_back(view.rows(family));
  for (const DocId& id : ids) {
    KIN_TRY(const bool is_here, is_member(view, partition, id));
    if (!is_here) continue;
    for (std::size_t i = 0; i < cursors.size(); ++i) {
      kv::Cursor& at = cursors[i];
      for (at.seek(id.view()); at.valid() && at.key().starts_with(id.view()); at.next())
        KIN_RETURN_IF_ERROR(sum.add(kRecordFamilies[i], at, bucket_of(id)));
      KIN_RETURN_IF_ERROR(at.status());
    }
  }
  return sum.finish();
}

}  // namespace

// Sums of hashes do not depend on the order, and every thing is in the sum once.
Result<PartitionDigest> digest_partition(const TruthView& view, PartitionId partition) {
  PartitionDigest digest{};
  PartitionRows rows(view, partition, {});
  DigestSum sum(view, digest, Sign::kAdd);
  for (;;) {
    KIN_TRY(const bool more, rows.next());
    if (!more) break;
    KIN_RETURN_IF_ERROR(sum.add(rows.family(), rows.cursor(), bucket_of(rows.id())));
  }
  KIN_RETURN_IF_ERROR(sum.finish());
  return digest;
}

struct DigestReading::State {
  State(const ShardView& from, PartitionId of)
      : view(from), partition(of), rows(view.truth(), of, {}), sum(view.truth(), digest, Sign::kAdd) {}
  ShardView view;
  PartitionId partition;
  PartitionDigest digest{};
  PartitionRows rows;
  DigestSum sum;
};

DigestReading::DigestReading(const ShardView& view, PartitionId partition)
    : state_(std::make_unique<State>(view, partition)) {}
DigestReading::~DigestReading() = default;
DigestReading::DigestReading(DigestReading&&) noexcept = default;
DigestReading& DigestReading::operator=(DigestReading&&) noexcept = default;

// Rows of other partitions take time, too, so the entities that are passed over are limited as well.
Result<bool> DigestReading::step() {
  PartitionRows& rows = state_->rows;
  rows.stop_after(kRowsTogether);
  for (std::size_t read = 0; read < kRowsTogether; ++read) {
    KIN_TRY(const bool more, rows.next());
    if (!more && rows.has_stopped()) return true;
    if (!more) {
      KIN_RETURN_IF_ERROR(state_->sum.finish());
      return false;
    }
    KIN_RETURN_IF_ERROR(state_->sum.add(rows.family(), rows.cursor(), bucket_of(rows.id())));
  }
  return true;
}

KeptDigest DigestReading::digest() const {
  return KeptDigest(state_->view, state_->partition, state_->digest);
}

Result<KeptDigest> KeptDigest::compute(const ShardView& view, PartitionId partition) {
  DigestReading reading(view, partition);
  for (;;) {
    KIN_TRY(const bool more, reading.step());
    if (!more) return reading.digest();
  }
}

// A change of an entity's partition takes its edges and fragments along, so what is exchanged is
// the entity with all its rows.
Status KeptDigest::advance(const ShardView& view) {
  std::set<DocId> changed;
  for (Lsn at = view_.lsn(); at < view.lsn();) {
    KIN_TRY(const ChangesPage page, view.truth().changes({.after = at}));
    for (const Change& change : page.changes) {
      if (change.kind != ChangeKind::kOwnerAssigned) changed.insert(change.id);
    }
    at = page.up_to;
  }
  PartitionDigest digest = digest_;
  DigestSum before(view_.truth(), digest, Sign::kTakeOut);
  KIN_RETURN_IF_ERROR(sum_entities(view_.truth(), partition_, changed, before));
  DigestSum after(view.truth(), digest, Sign::kAdd);
  KIN_RETURN_IF_ERROR(sum_entities(view.truth(), partition_, changed, after));
  digest_ = digest;
  view_ = view;
  return Done{};
}

}  // namespace kin::index
