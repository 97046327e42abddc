// Terms of a shipped log: who owns it, and where it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "cloud/object_store.h"
#include "router/shipped_log.h"

namespace kin::router {

// The end of a log as one reader saw it; it may grow meanwhile.
struct LogEnd {
  std::uint64_t term = 0;       // the last one; 0: there is no log
  LogPosition last = {};        // its last object; number 0 if it has none yet
  std::optional<LogObject> begin = {};  // its first object
  std::optional<LogObject> seal = {};   // of the last term, or of the one before if it has no object
  bool dropped = false;         // the shard was dropped
};
Result<LogEnd> find_end(cloud::ObjectStore& objects);

// Which states of a log are those of the shard. A term may begin with a state before the end of an
// earlier one: what that term, and those between the two, had beyond it was acknowledged to nobody
// and is given up. So are snapshots of it.
class LogChain {
 public:
  // As the log is now, for positions from `oldest` on.
  static Result<LogChain> read(cloud::ObjectStore& objects, const LogPosition& oldest);
  bool has(const LogPosition& position) const;

 private:
  struct Skipped {
    LogPosition base;   // the first is behind it
    LogPosition begin;  // of the term that begins with that state
  };
  std::vector<Skipped> skipped_;
};

struct Sealed {
  LogPosition at = {};  // the seal itself; everything before it is what the old term left
  bool ours = false;    // false: another writer sealed it, or the term goes on elsewhere
  std::uint64_t next_term = 0;
  Hash128 writer = {};
};
// Ends a term: creates the next free position of it with a seal that names `next_term` and the
// writer of that term. Later creations of the old owner fail. May be repeated with the same writer
// after an error. A term without any object is sealed at number 1. `after` is an object that is
// known to exist.
Result<Sealed> seal_term(cloud::ObjectStore& objects, const LogPosition& after,
                         std::uint64_t next_term, const Hash128& writer, WallTime now);

}  // namespace kin::router
