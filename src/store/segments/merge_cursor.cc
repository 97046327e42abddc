#include "store/segments/merge_cursor.h"

namespace kin::store {

MergeCursor::MergeCursor(const std::vector<std::shared_ptr<Segment>>& segments) {
  for (const auto& segment : segments) cursors_.emplace_back(segment);
}

Status MergeCursor::seek(std::string_view key) {
  for (SegmentCursor& cursor : cursors_) KIN_RETURN_IF_ERROR(cursor.seek(key));
  return next();
}

Status MergeCursor::next() {
  values_.clear();
  // There are at most some dozens of segments, so a heap is not needed.
  const SegmentCursor* least = nullptr;
  for (const SegmentCursor& cursor : cursors_) {
    if (cursor.valid() && (least == nullptr || cursor.key() < least->key())) least = &cursor;
  }
  if (least == nullptr) return Done{};
  key_ = least->key();
  for (SegmentCursor& cursor : cursors_) {
    if (!cursor.valid() || cursor.key() != key_) continue;
    values_.push_back(std::move(cursor.value()));
    KIN_RETURN_IF_ERROR(cursor.next());
  }
  return Done{};
}

}  // namespace kin::store
