#include "dedup/spill/budget.h"

#include <algorithm>

#include "dedup/spill/shared_keys.h"
#include "store/seen_set.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kSeenShare = 8;  // one in so many bytes

std::uint64_t left_of(std::uint64_t share, std::uint64_t used) {
  return share - std::min(share, used);
}

// The program, its readers and its tables of fixed size.
constexpr std::uint64_t kProgram = 48 << 20;
// Measured on texts of 20 MB: how often a thread holds a text while it sketches it, and while it
// compares and writes it.
constexpr std::uint64_t kSketchCopies = 6;
constexpr std::uint64_t kTextCopies = 11;
// A record of 47 MB, with what was read behind it.
constexpr std::uint64_t kRecordCopies = 2;

// What the scan leaves for long records: keys and signatures may take the rest, and every thread
// but the first a block of its own.
std::uint64_t scan_room(std::uint64_t own, int threads) {
  constexpr std::uint64_t kBlock = 5 << 20;
  const Budget budget(own);
  const auto others = static_cast<std::uint64_t>(std::max(threads, 1) - 1);
  return left_of(own, kProgram + budget.spills + budget.signatures + others * kBlock);
}

std::uint64_t text_room(std::uint64_t own, std::uint64_t tables) {
  return left_of(own, kProgram + tables + Budget(own).stage);
}

// The smallest number of bytes, in steps of a mebibyte, of which `fits` is true.
template <typename Fits>
std::uint64_t least_that(Fits fits) {
  constexpr std::uint64_t kStep = 1 << 20;
  std::uint64_t high = 128 * kStep;
  while (!fits(high)) high *= 2;
  std::uint64_t low = 0;
  while (high - low > kStep) {
    const std::uint64_t middle = low + (high - low) / 2 / kStep * kStep;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::uint64_t seen_memory(const DedupOptions& options, std::uint64_t max_memory) {
  if (!options.skip_seen) return 0;
  return std::min(max_memory, std::max(store::kSeenLeastMemory, max_memory / kSeenShare));
}

std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own) {
  if (!options.skip_seen) return own;
  return own + std::max(store::kSeenLeastMemory, own / (kSeenShare - 1) + 1);
}

KeyBytes::KeyBytes(const DedupOptions& options) {
  const Detectors& by = options.detectors;
  const auto banding = banding_of(options);
  if (by.minhash && banding) bands = banding->bands * sizeof(BandRecord);
  hashes = sizeof(HashRecord) * ((by.exact ? 1U : 0U) + (by.minhash ? 1U : 0U));
  if (by.minhash && options.verification != Verification::kNone) signature = options.hashes;
}

std::uint64_t Budget::scanner(const DedupOptions& options, std::uint64_t records) const {
  const KeyBytes keys(options);
  std::uint64_t left = 0;
  // An eighth more, for blocks that are not full.
  if (!options.detectors.chunk)
    left += left_of(spills, records * (keys.bands + keys.hashes) / 8 * 9);
  if (!options.max_hot_signatures) left += left_of(signatures, records * keys.signature / 8 * 9);
  return reader + left;
}

std::uint64_t LongTexts::longest_text() const {
  return std::min(scan_room(own, threads) / kSketchCopies, text_room(own, tables) / kTextCopies);
}

std::uint64_t LongTexts::longest_record() const {
  return scan_room(own, threads) / kRecordCopies;
}

std::uint64_t memory_for_text(std::uint64_t text, std::uint64_t tables) {
  constexpr int kManyThreads = 1024;
  return least_that([&](std::uint64_t own) {
    return LongTexts{own, tables, threads_for_memory(kManyThreads, own)}.longest_text() >= text;
  });
}

int threads_for_text(int threads, std::uint64_t own, std::uint64_t text, std::uint64_t tables) {
  constexpr std::uint64_t kAlways = 256 << 10;  // what every thread has room for
  if (text <= kAlways) return threads;
  const std::uint64_t room = text_room(own, tables) / (kTextCopies * text);
  return static_cast<int>(
      std::clamp<std::uint64_t>(room, 1, static_cast<std::uint64_t>(std::max(threads, 1))));
}

int threads_for_memory(int threads, std::uint64_t max_memory) {
  constexpr std::uint64_t kThread = 32 << 20;
  constexpr std::uint64_t kShared = 64 << 20;
  const std::uint64_t most = std::max<std::uint64_t>(left_of(max_memory, kShared) / kThread, 1);
  return static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(threads)));
}

std::uint64_t PairMemory::bytes(std::uint64_t max_memory) const {
  const std::uint64_t own = max_memory - seen_memory(options, max_memory);
  const Budget budget(own);
  const std::uint64_t signatures =
      options.max_hot_signatures
          ? *options.max_hot_signatures * options.hashes
          : std::min(budget.signatures, records * KeyBytes(options).signature);
  const std::uint64_t held = fixed + records * bytes_a_record(options) + signatures + budget.stage;
  return left_of(own, held);
}

std::uint64_t PairMemory::least_mebibytes(std::uint64_t needed) const {
  std::uint64_t mebibytes = (needed >> 20) + 1;
  while (bytes(mebibytes << 20) < needed) ++mebibytes;
  return mebibytes;
}

}  // namespace kin::dedup
