// A copy's side of a shipped log: objects in order, from one term to the next.
//
//   LogReader reader(objects, copy_position);
//   KIN_TRY(auto object, reader.next());   // nothing: the copy has everything for now
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "cloud/object_store.h"
#include "router/shipped_log.h"

namespace kin::router {

// Thread-compatible. `objects` must outlive it.
class LogReader {
 public:
  // Goes on after `position`, an object of the log.
  LogReader(cloud::ObjectStore& objects, const LogPosition& position)
      : objects_(objects), position_(position) {}

  // The next object of the log, in order: batches, beginnings and seals. Nothing if there is none
  // yet. kFailedPrecondition after a gap, or if the next term began with a state that the log does
  // not have, or if the objects are removed already: the copy must be restored from a snapshot.
  // After an error of the store it may be called again.
  Result<std::optional<LogObject>> next();
  // The last object that was returned.
  const LogPosition& position() const { return position_; }
  // Whether that is a seal: another term may begin with the state there.
  bool at_seal() const { return next_term_.has_value(); }

 private:
  Result<std::optional<LogObject>> read(const LogPosition& position);
  Status check_removed();
  Result<std::optional<LogObject>> cross(std::uint64_t next_term);

  cloud::ObjectStore& objects_;
  LogPosition position_;
  std::optional<std::uint64_t> next_term_ = {};  // at a seal: the term that it names
  std::uint64_t absent_ = 0;                     // times that the next object was not there
};

}  // namespace kin::router
