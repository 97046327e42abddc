// One line of the changelog: what became of one thing, small enough to keep for every change.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "index/entity.h"
#include "index/truth/entity_keys.h"

namespace kin::index {

enum class ChangeKind : std::uint8_t {
  kEntityPut,
  kEntityRemoved,
  kEntityAssigned,  // to another partition; its edges and fragments go with it
  kEdgePut,
  kEdgeRemoved,
  kEntityFragmentAdded,
  kEntityFragmentRemoved,
  kEdgeFragmentAdded,
  kEdgeFragmentRemoved,
};

// An index that forgets `retired` and learns `number`, for every change in order, agrees with the
// truth; a change that is applied twice does no harm.
struct Change {
  Lsn lsn = 0;  // its key
  ChangeKind kind = ChangeKind::kEntityPut;
  PartitionId partition{};  // that the thing is in afterwards
  PartitionId former{};     // kEntityAssigned: that it was in before
  Version version = {};
  DocNumber number = kNoNumber;   // of the document as it is now
  DocNumber retired = kNoNumber;  // that stood for what it was before
  DocId id = {};                  // the entity, or where the edge begins
  NameId name{};                  // edges and their fragments
  DocId to = {};                  // edges and their fragments
  Millis time = 0;                // since when an edge holds; when a fragment was said
  std::uint64_t content = 0;      // fragments: hash64 of the text
  friend bool operator==(const Change&, const Change&) = default;
};

EdgePlace edge_of(const Change& change);
FragmentPlace fragment_of(const Change& change);

std::string encode(const Change& change);  // without its LSN
Result<Change> decode_change(Lsn lsn, std::string_view bytes);

}  // namespace kin::index
