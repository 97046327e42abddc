#include "dedup/spill/run_memory.h"

#include <algorithm>

namespace kin::dedup {
namespace {

std::uint64_t left_of(std::uint64_t share, std::uint64_t used) {
  return share - std::min(share, used);
}

}  // namespace

std::uint64_t RunMemory::shared() const {
  const auto threads = static_cast<std::uint64_t>(std::max(options_.threads, 1));
  return left_of(own(), kProgramBytes + threads * kThreadBytes);
}

std::uint64_t RunMemory::beside_texts(std::uint64_t records) const {
  const std::uint64_t signatures =
      std::min(budget_.signatures, records * KeyBytes(options_).signature);
  return signatures + tables(records) + budget_.stage + shared() / 10;
}

std::uint64_t RunMemory::beside_keys(std::uint64_t records) const {
  const KeyBytes keys(options_);
  // An eighth more, for blocks that are not full. The number of chunks is not known.
  const std::uint64_t needed = records * (keys.bands + keys.hashes) / 8 * 9;
  const std::uint64_t spilled =
      options_.detectors.chunk ? budget_.spills : std::min(budget_.spills, needed);
  return left_of(shared(), spilled + beside_texts(records));
}

std::uint64_t RunMemory::for_texts(std::uint64_t records) const {
  return std::max(budget_.reader, left_of(shared(), beside_texts(records)));
}

std::uint64_t RunMemory::of_texts(std::uint64_t records, std::uint64_t needed, std::uint64_t pages,
                                  std::uint64_t most) const {
  return std::min({needed, left_of(for_texts(records), pages) / 4 * 3, most});
}

std::uint64_t RunMemory::for_writer(std::uint64_t records, std::uint64_t kept,
                                    std::uint64_t texts) const {
  const std::uint64_t most =
      std::max(budget_.writer, left_of(shared(), tables(records) + shared() / 10));
  return left_of(std::min(most, budget_.writer + kept + texts), texts);
}

std::uint64_t RunMemory::beside_pairs(std::uint64_t records, std::uint64_t pairs,
                                      std::uint64_t fixed) const {
  constexpr std::uint64_t kCopies = 3;  // of a pair, at most
  const PairMemory memory{options_, records, fixed};
  return left_of(memory.bytes(options_.max_memory), kCopies * pairs);
}

}  // namespace kin::dedup
