// Generated ids; the stream knows which of them are repeats.
#pragma once

#include <cstdint>
#include <span>

#include "base/hash.h"
#include "base/random.h"

namespace kin::bench {

// The n-th id is a bijection of n, so no id has to be remembered to know whether it is new. One
// thread only.
class IdStream {
 public:
  IdStream(std::uint64_t seed, double repeats)
      : offset_(mix64(seed)), repeats_(repeats), random_(seed) {}

  // Fills `ids` and sets is_new[i] to 1 if ids[i] is new, else 0. Repeats are drawn uniformly from
  // all earlier ids.
  void next(std::span<std::uint64_t> ids, std::span<std::uint8_t> is_new) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool repeat = count_ > 0 && random_.unit() < repeats_;
      ids[i] = repeat ? id(random_.below(count_)) : id(count_++);
      is_new[i] = repeat ? 0 : 1;
    }
  }

  // Number of distinct ids so far: id(0) to id(count() - 1).
  std::uint64_t count() const { return count_; }
  std::uint64_t id(std::uint64_t n) const { return mix64(n + offset_); }

 private:
  std::uint64_t offset_;
  double repeats_;
  Random random_;
  std::uint64_t count_ = 0;
};

}  // namespace kin::bench
