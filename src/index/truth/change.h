// One row of the changelog: which thing changed, and how. Its contents are in the rows of the
// truth.
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
  kOwnerAssigned,
};

// An index that forgets `retired` and learns `number` for every change, in order, agrees with the
// truth. Applying a change twice does no harm.
struct Change {
  Lsn lsn = 0;  // its key
  ChangeKind kind = ChangeKind::kEntityPut;
  PartitionId partition{};  // of the thing, after the change
  PartitionId former{};     // kEntityAssigned: before the change
  Version version = {};
  DocNumber number = kNoNumber;   // of the document after the change
  DocNumber retired = kNoNumber;  // of the document before the change
  DocId id = {};                  // the entity, or where the edge begins
  NameId name{};                  // edges and their fragments
  DocId to = {};                  // edges and their fragments
  Millis time = 0;                // when an edge begins; the time of a fragment
  std::uint64_t content = 0;      // fragments: hash64 of the text
  friend bool operator==(const Change&, const Change&) = default;
};

EdgeKey edge_of(const Change& change);
FragmentKey fragment_of(const Change& change);

std::string encode(const Change& change);  // without its LSN
Result<Change> decode_change(Lsn lsn, std::string_view bytes);

}  // namespace kin::index
