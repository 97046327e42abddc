// MinHash: k numbers of 32 bits whose agreement estimates the Jaccard similarity of two sets of
// shingles. Signatures are on disk in every store: a change of any value is a new
// kMinHashVersion.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kin::sketch {

inline constexpr int kMinHashVersion = 1;
inline constexpr std::uint32_t kDefaultHashes = 128;
inline constexpr std::uint32_t kMaxHashes = 1024;

// Slot i is the least a_i * x modulo 2^32 over the shingles, with x the high 32 bits of
// mix64(shingle) and a_i odd and fixed. The slots of fewer hashes are the first of more. Without
// shingles every slot is 0xFFFFFFFF. Thread-safe.
class MinHasher {
 public:
  // `hashes` from 1 to kMaxHashes.
  explicit MinHasher(std::uint32_t hashes = kDefaultHashes);

  std::uint32_t hashes() const { return hashes_; }

  // `signature` has hashes() slots. Repeated shingles change nothing.
  void sign(std::span<const std::uint64_t> shingles, std::span<std::uint32_t> signature) const;

  // The same without vector instructions. Tests compare sign() with it.
  void sign_scalar(std::span<const std::uint64_t> shingles,
                   std::span<std::uint32_t> signature) const;

 private:
  std::uint32_t hashes_;
  std::vector<std::uint32_t> multipliers_;  // padded to whole vectors
};

// Eight bits a slot, enough to verify candidates at a quarter of the room. `out` is as long as
// `signature`. Thread-safe, like all that follows.
void compact(std::span<const std::uint32_t> signature, std::span<std::uint8_t> out);

// How many slots of two compact signatures of the same length agree.
std::uint32_t equal_slots(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

// Estimates the Jaccard similarity, from 0 to 1, if `equal` of `slots` compact slots agree;
// corrects for the one slot in 256 that agrees by chance.
double estimate_jaccard(std::uint32_t equal, std::uint32_t slots);

// One standard deviation of that estimate where the true similarity is `similarity`.
double estimate_deviation(double similarity, std::uint32_t slots);

}  // namespace kin::sketch
