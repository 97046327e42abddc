// The calls of clients with their results, and whether one register per key explains them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace kin::router {

// The state of a key: the number of the last write, 0 if the key does not exist.
using KeyState = std::uint64_t;

struct Operation {
  enum class Kind : std::uint8_t {
    kWrite,      // makes it `state`
    kSees,       // it is `state`
    kSeesOther,  // it is not `state`
    kExists,     // it is not 0
  };
  Kind kind = Kind::kWrite;
  KeyState state = 0;
  SteadyTime begun = {};
  std::optional<SteadyTime> ended = {};  // nothing: it is unknown whether and when it took effect
  std::string what = {};                 // for people
};

// Thread-compatible.
class History {
 public:
  // An operation that takes effect at one moment between `begun` and `ended`. Reads that failed are
  // not recorded.
  void add(std::size_t key, Operation operation) { keys_[key].push_back(std::move(operation)); }

  // Why no order of the operations explains what was seen; nothing if one does. Such an order has
  // each operation between its beginning and its end (linearizability).
  std::optional<std::string> violation() const;

  std::size_t size() const;

 private:
  std::map<std::size_t, std::vector<Operation>> keys_;
};

}  // namespace kin::router
