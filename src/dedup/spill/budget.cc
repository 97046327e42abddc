#include "dedup/spill/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/memory.h"
#include "dedup/spill/long_texts.h"
#include "dedup/spill/shared_keys.h"
#include "store/seen_set.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kSeenShare = 8;  // one in so many bytes
// Less makes the store slow and its files small; more gains nothing.
constexpr std::uint64_t kKnownShare = 8;
constexpr std::uint64_t kKnownLeast = 24 << 20;
constexpr std::uint64_t kKnownMost = 128 << 20;

std::uint64_t left_of(std::uint64_t share, std::uint64_t used) {
  return share - std::min(share, used);
}

// Memory for a second thread, and for each further one.
constexpr std::uint64_t kSharedByThreads = 64 << 20;
constexpr std::uint64_t kEachThread = 32 << 20;

// The memory for comparing and writing texts.
std::uint64_t text_room(std::uint64_t own, std::uint64_t tables) {
  return left_of(own, kProgramBytes + kThreadBytes + tables + Budget(own).stage);
}

// Records up to this length fit into the working memory of a thread.
constexpr std::uint64_t kUsualRecord = 2 << 20;

// The memory of keys and signatures while records are read. A run that only cuts texts has no
// signatures; with Parquet, their share is left to pages, which are held beside the texts.
bool has_signatures(const DedupOptions& options, const MemoryNeeds& needs) {
  return removes_records(options) || needs.pages;
}
std::uint64_t scan_tables(const DedupOptions& options, const MemoryNeeds& needs,
                          std::uint64_t own) {
  const Budget budget(own);
  return budget.spills + (has_signatures(options, needs) ? budget.signatures : 0);
}

// Whether `own` bytes are enough.
bool is_enough(std::uint64_t own, const DedupOptions& options, const MemoryNeeds& needs) {
  own = left_of(own, needs.references);
  const std::uint64_t tables = needs.records * bytes_a_record(options);
  if (own < kFixedBytes + tables) return false;
  const std::uint64_t scanned = std::max({needs.scan, sketch_copies(options) * needs.heaviest_text,
                                          kRecordCopies * needs.longest_record});
  // As many threads as fit into the memory, counted with a fraction, so that more memory is never
  // worse.
  std::uint64_t threads =
      left_of(own, kSharedByThreads) / (kEachThread / kThreadBytes) + kThreadBytes;
  if (needs.threads > 0 && !has_signatures(options, needs))
    threads = std::min(threads, static_cast<std::uint64_t>(needs.threads) * kThreadBytes);
  const std::uint64_t held = kProgramBytes + scan_tables(options, needs, own) + threads;
  if (left_of(own, held) < scanned) return false;
  if (text_room(own, tables) < kCompareCopies * needs.heaviest_text) return false;
  return left_of(own, kProgramBytes + kThreadBytes + tables) >= writer_bytes(needs);
}

// The smallest number of bytes, in steps of a mebibyte, for which `fits` is true.
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

std::uint64_t known_memory(const DedupOptions& options, std::uint64_t max_memory) {
  if (!options.append) return 0;
  return std::min(max_memory, std::clamp(max_memory / kKnownShare, kKnownLeast, kKnownMost));
}

std::uint64_t reserved_memory(const DedupOptions& options, std::uint64_t max_memory) {
  const std::uint64_t remote = options.remote != nullptr ? kRemoteBytes : 0;
  return std::min(max_memory,
                  seen_memory(options, max_memory) + known_memory(options, max_memory) + remote);
}

std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own) {
  if (options.remote != nullptr) own += kRemoteBytes;
  if (options.append) own += std::clamp(own / (kKnownShare - 1) + 1, kKnownLeast, kKnownMost);
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

Budget::Budget(std::uint64_t total) {
  const std::uint64_t shared = left_of(total, kProgramBytes);
  reader = shared / 4;
  spills = shared * 3 / 10;
  signatures = shared * 3 / 20;
  stage = shared / 6;
  writer = shared * 6 / 10;
}

std::uint64_t scan_room(const DedupOptions& options, const MemoryNeeds& needs, std::uint64_t own,
                        int threads) {
  const auto working = static_cast<std::uint64_t>(std::max(threads, 1)) * kThreadBytes;
  return left_of(own, kProgramBytes + scan_tables(options, needs, own) + working);
}

std::uint64_t writer_bytes(const MemoryNeeds& needs) {
  const std::uint64_t record = needs.longest_record > kUsualRecord ? needs.longest_record : 0;
  return needs.write.bytes + needs.write.copies * record;
}

std::uint64_t least_mebibytes(const DedupOptions& options, const MemoryNeeds& needs) {
  const std::uint64_t own =
      least_that([&](std::uint64_t bytes) { return is_enough(bytes, options, needs); });
  const std::uint64_t total = total_memory(options, own);
  return (total + (1 << 20) - 1) >> 20;
}

Status check_needs(const DedupOptions& options, const MemoryNeeds& needs) {
  const std::uint64_t own =
      left_of(options.max_memory, reserved_memory(options, options.max_memory));
  if (is_enough(own, options, needs)) return Done{};
  const std::uint64_t least = least_mebibytes(options, needs);
  // Names the largest need.
  const auto without = [&](std::uint64_t MemoryNeeds::* need) {
    MemoryNeeds rest = needs;
    rest.*need = 0;
    return least_mebibytes(options, rest);
  };
  MemoryNeeds without_writer = needs;
  without_writer.write = {};
  const std::pair<std::uint64_t, std::string> reasons[] = {
      {without(&MemoryNeeds::records),
       fmt::format("{} records need at least {}", needs.records, format_bytes(least << 20))},
      {without(&MemoryNeeds::heaviest_text),
       fmt::format("the longest text has {} bytes, too many for the memory", needs.heaviest_text)},
      {without(&MemoryNeeds::longest_record),
       fmt::format("the longest record has {} bytes, too many for the memory",
                   needs.longest_record)},
      {without(&MemoryNeeds::scan),
       fmt::format("the inputs need {} to be read", format_bytes(needs.scan))},
      {least_mebibytes(options, without_writer),
       fmt::format("the output needs {} to be written", format_bytes(writer_bytes(needs)))},
      {without(&MemoryNeeds::references),
       fmt::format("the references of --against need {} of memory",
                   format_bytes(needs.references))}};
  const auto main = std::ranges::min_element(
      reasons, [](const auto& a, const auto& b) { return a.first < b.first; });
  return Error{Code::kResourceExhausted,
               fmt::format("{} (use --max-memory {}MiB or more)", main->second, least)};
}

int threads_for_text(int threads, std::uint64_t own, std::uint64_t weight, std::uint64_t tables) {
  if (weight <= kShortText) return threads;
  const std::uint64_t each = kCompareCopies * weight + kThreadBytes;
  const std::uint64_t room = (text_room(own, tables) + kThreadBytes) / each;
  return static_cast<int>(
      std::clamp<std::uint64_t>(room, 1, static_cast<std::uint64_t>(std::max(threads, 1))));
}

int threads_for_memory(int threads, std::uint64_t max_memory) {
  const std::uint64_t most =
      std::max<std::uint64_t>(left_of(max_memory, kSharedByThreads) / kEachThread, 1);
  return static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(threads)));
}

std::uint64_t PairMemory::bytes(std::uint64_t max_memory) const {
  const std::uint64_t own = max_memory - reserved_memory(options, max_memory);
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
