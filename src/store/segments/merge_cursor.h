// A cursor over several segments.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/segments/segment.h"

namespace kin::store {

// Keys ascend; each comes once, with the values of all segments that have it. One thread only.
class MergeCursor {
 public:
  // `segments`: oldest first.
  explicit MergeCursor(const std::vector<std::shared_ptr<Segment>>& segments);

  // Moves to the first key at or after `key`.
  Status seek(std::string_view key);
  bool valid() const { return !values_.empty(); }
  const std::string& key() const { return key_; }
  std::vector<std::string>& values() { return values_; }  // oldest first
  Status next();

 private:
  std::vector<SegmentCursor> cursors_;
  std::string key_;
  std::vector<std::string> values_;
};

}  // namespace kin::store
