#include "index/truth/partition_rows.h"

#include "index/bucket.h"
#include "index/truth/entity_format.h"

namespace kin::index {

PartitionRows::PartitionRows(const TruthView& view, PartitionId partition,
                             std::optional<std::uint8_t> bucket)
    : view_(view), partition_(partition), bucket_(bucket) {
  for (const kv::Family family : kRecordFamilies) cursors_.push_back(view.rows(family));
}

Status PartitionRows::resume(std::string_view position) {
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

void PartitionRows::skip_past(const DocId& id) {
  const auto past = kv::keys_with(id.view()).to;
  for (std::size_t i = 0; i < cursors_.size(); ++i) seek(i, past);
  current_.reset();
}

Result<bool> PartitionRows::next() {
  if (current_) cursors_[*current_].next();
  for (;;) {
    KIN_RETURN_IF_ERROR(find_least());
    if (!current_) return false;
    const std::string_view id = cursor().key().substr(0, kIdBytes);
    if (id != id_) KIN_RETURN_IF_ERROR(see_entity(std::string(id)));
    if (is_member_) return true;
    skip_entity();
    ++passed_;
    if (!has_stopped()) continue;
    current_.reset();  // the cursors are past the entity
    return false;
  }
}

// An entity has few rows in each family as a rule, so going on is cheaper than looking for the end.
void PartitionRows::skip_entity() {
  constexpr int kFew = 4;
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    const auto is_at_it = [&] { return cursors_[i].valid() && cursors_[i].key().starts_with(id_); };
    for (int rows = 0; rows < kFew && is_at_it(); ++rows) cursors_[i].next();
    if (is_at_it()) seek(i, kv::keys_with(id_).to);
  }
}

std::string PartitionRows::position() const {
  return std::string(1, static_cast<char>(*current_)).append(cursor().key());
}

void PartitionRows::seek(std::size_t cursor, const std::optional<std::string>& key) {
  cursors_[cursor].seek(key ? *key : std::string(64, '\xff'));  // keys have at most 52 bytes
}

Status PartitionRows::find_least() {
  current_.reset();
  for (std::size_t i = 0; i < cursors_.size(); ++i) {
    if (!cursors_[i].valid()) {
      KIN_RETURN_IF_ERROR(cursors_[i].status());
      continue;
    }
    if (cursors_[i].key().size() < kIdBytes)
      return Error{Code::kDataLoss, "a key of the truth is damaged"};
    const auto id_at = [&](std::size_t at) { return cursors_[at].key().substr(0, kIdBytes); };
    if (!current_ || id_at(i) < id_at(*current_)) current_ = i;
  }
  return Done{};
}

Status PartitionRows::see_entity(std::string id) {
  id_ = std::move(id);
  is_member_ = false;
  if (bucket_ && bucket_of(*decode_entity_key(id_)) != *bucket_) return Done{};
  PartitionId partition{};  // of things whose entity never existed
  KIN_TRY(const auto row, head_row());
  if (row) {
    KIN_TRY(const HeadRow head, decode_head(*row));
    partition = head.head.partition;
  }
  is_member_ = partition == partition_;
  return Done{};
}

// Where a walk goes on in the middle of an entity, the cursor of entities has passed its row.
Result<std::optional<std::string>> PartitionRows::head_row() const {
  static_assert(kRecordFamilies[0] == kEntitiesFamily);
  if (cursors_[0].valid() && cursors_[0].key() == id_)
    return std::optional(std::string(cursors_[0].value()));
  return view_.row(kEntitiesFamily, id_);
}

}  // namespace kin::index
