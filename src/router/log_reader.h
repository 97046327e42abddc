// A copy's side of a shipped log: objects in order, from one term to the next.
//
//   LogReader reader(objects, copy_position);
//   KIN_TRY(auto object, reader.next());   // nothing: the copy has everything for now
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
  // yet. kFailedPrecondition at a gap, or if the next term began with a state that the log does
  // not have, or if the objects are removed already: the copy must be restored from a snapshot.
  // After an error it may be called again.
  Result<std::optional<LogObject>> next();
  // The last object that was returned.
  const LogPosition& position() const { return position_; }
  // After next() failed with kFailedPrecondition: only a snapshot leads on from position(), and if
  // there is none yet (snapshot_leads_on()), nothing that came later was acknowledged as durable. A
  // later term may begin with the state here; next() finds it.
  bool is_blocked() const { return is_blocked_; }
  // After next() returned nothing: the term whose first object it waits for. Every earlier term is
  // sealed then. Nothing within a term.
  const std::optional<std::uint64_t>& awaited_term() const { return awaited_; }
  // The copy did nothing for long: the next call checks whether objects were removed meanwhile.
  void doubt() { absent_ = 0; }

 private:
  Result<std::optional<LogObject>> read(const LogPosition& position);
  // The term that the seal of a term names; nothing if the term is not sealed.
  Result<std::optional<std::uint64_t>> sealed_for(std::uint64_t term);
  Status check_removed();
  Result<std::optional<LogObject>> cross(std::uint64_t next_term);
  Error blocked(std::string_view why);

  cloud::ObjectStore& objects_;
  LogPosition position_;
  std::optional<std::uint64_t> next_term_ = {};  // at a seal: the term that it names
  std::optional<std::uint64_t> awaited_ = {};
  bool is_blocked_ = false;
  std::uint64_t absent_ = 0;  // times that the next object was not there
};

}  // namespace kin::router
