#include "index/shard/near_duplicates.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::index {
namespace {

constexpr std::string_view kMagic = "KINNEARD";
constexpr std::uint32_t kVersion = 1;
// If very many documents share a key, only the newest are looked at.
constexpr std::size_t kMostOfABucket = 256;
constexpr std::size_t kFirstBuckets = 1024;
constexpr std::uint32_t kMostBands = sketch::kMaxHashes;

Error damaged() {
  return {Code::kDataLoss, "a page of the signatures of near-duplicates is damaged"};
}

}  // namespace

std::string encode(const SignaturePage& page) {
  std::string out(kMagic);
  append_le(out, kVersion);
  append_le(out, page.bands);
  append_le(out, static_cast<std::uint32_t>(page.numbers.size()));
  out += as_bytes_view(std::span(page.numbers));
  out += as_bytes_view(std::span(page.keys));
  append_le(out, checksum(out));
  return out;
}

Result<SignaturePage> decode_signature_page(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + 20) return damaged();
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body)) return damaged();
  ByteReader reader(body);
  if (reader.read_bytes(kMagic.size()) != kMagic) return damaged();
  if (reader.read<std::uint32_t>() != kVersion) return damaged();
  SignaturePage page;
  page.bands = reader.read<std::uint32_t>();
  const auto count = reader.read<std::uint32_t>();
  // Before the length is computed, so that it cannot overflow.
  if (page.bands == 0 || page.bands > kMostBands) return damaged();
  if (reader.rest().size() != std::uint64_t{count} * 4 * (1 + page.bands)) return damaged();
  page.numbers = reader.read_vector<std::uint32_t>(count);
  page.keys = reader.read_vector<std::uint32_t>(std::size_t{count} * page.bands);
  if (!std::ranges::is_sorted(page.numbers, std::ranges::less_equal{})) return damaged();
  return page;
}

NearDuplicates::NearDuplicates(TextSketcher sketcher)
    : sketcher_(std::move(sketcher)), heads_(kFirstBuckets) {}

Result<NearDuplicates> NearDuplicates::create(double threshold) {
  KIN_TRY(TextSketcher sketcher, TextSketcher::create(threshold));
  return NearDuplicates(std::move(sketcher));
}

void NearDuplicates::mark_dirty(std::uint32_t number) {
  const std::size_t page = number / kPageNumbers;
  if (page >= dirty_.size()) dirty_.resize(page + 1);
  dirty_[page] = true;
}

std::optional<std::size_t> NearDuplicates::slot_of(std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(numbers_, number);
  if (found == numbers_.end() || *found != number) return {};
  const auto slot = static_cast<std::size_t>(found - numbers_.begin());
  if (dead_[slot]) return {};
  return slot;
}

void NearDuplicates::add_entry(std::uint32_t entry) {
  std::uint32_t& head = heads_[keys_[entry] & (heads_.size() - 1)];
  next_[entry] = head;
  head = entry + 1;
}

void NearDuplicates::grow() {
  // Each entry goes in front of its chain, so chains run from the newest entry to the oldest.
  heads_.assign(std::bit_ceil(keys_.size() + keys_.size() / 2), 0);
  for (std::uint32_t entry = 0; entry < keys_.size(); ++entry) add_entry(entry);
}

void NearDuplicates::learn(std::uint32_t number, std::span<const std::uint32_t> keys) {
  if (keys.size() != sketcher_.bands()) return;
  // Following a change twice does no harm: slots are in the order of numbers.
  if (!numbers_.empty() && number <= numbers_.back()) return;
  numbers_.push_back(number);
  dead_.push_back(false);
  const auto first = static_cast<std::uint32_t>(keys_.size());
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  next_.resize(keys_.size());
  ++live_;
  mark_dirty(number);
  if (keys_.size() > heads_.size()) return grow();  // which adds the new entries too
  for (std::uint32_t entry = first; entry < keys_.size(); ++entry) add_entry(entry);
}

void NearDuplicates::forget(std::uint32_t number) {
  const auto slot = slot_of(number);
  if (!slot) return;
  dead_[*slot] = true;
  --live_;
  mark_dirty(number);
  // Searches step over dead slots. Compacting when they are a quarter costs little per removal.
  if ((numbers_.size() - live_) * 4 > numbers_.size() && numbers_.size() > 1024) compact();
}

void NearDuplicates::compact() {
  std::size_t to = 0;
  for (std::size_t slot = 0; slot < numbers_.size(); ++slot) {
    // The last entry stays: learn() compares new numbers with it.
    if (dead_[slot] && slot + 1 < numbers_.size()) continue;
    numbers_[to] = numbers_[slot];
    dead_[to] = dead_[slot];
    std::ranges::copy(keys_of_slot(slot), keys_.data() + to * sketcher_.bands());
    ++to;
  }
  numbers_.resize(to);
  dead_.resize(to);
  keys_.resize(to * sketcher_.bands());
  next_.resize(keys_.size());
  grow();
}

std::vector<std::uint32_t> NearDuplicates::candidates(std::span<const std::uint32_t> keys) const {
  std::unordered_map<std::uint32_t, std::uint32_t> shared;
  if (keys.size() != sketcher_.bands()) return {};
  for (std::uint32_t band = 0; band < keys.size(); ++band) {
    // A bucket holds entries of all bands and of different keys.
    std::size_t seen = 0;
    for (std::uint32_t at = heads_[keys[band] & (heads_.size() - 1)]; at != 0; at = next_[at - 1]) {
      const std::uint32_t entry = at - 1;
      if (keys_[entry] != keys[band] || entry % sketcher_.bands() != band) continue;
      if (dead_[entry / sketcher_.bands()]) continue;
      ++shared[numbers_[entry / sketcher_.bands()]];
      if (++seen == kMostOfABucket) break;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;
  for (const auto& [number, bands] : shared) order.emplace_back(bands, number);
  // Texts that share more bands are more similar. Ties go by number, for the same result always.
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (order.size() > kMostCandidates) order.resize(kMostCandidates);
  std::vector<std::uint32_t> numbers;
  for (const auto& [bands, number] : order) numbers.push_back(number);
  return numbers;
}

std::span<const std::uint32_t> NearDuplicates::keys(std::uint32_t number) const {
  const auto slot = slot_of(number);
  if (!slot) return {};
  return keys_of_slot(*slot);
}

std::vector<std::uint32_t> NearDuplicates::numbers() const {
  std::vector<std::uint32_t> result;
  for (std::size_t slot = 0; slot < numbers_.size(); ++slot)
    if (!dead_[slot]) result.push_back(numbers_[slot]);
  return result;
}

NearDuplicates::Pages NearDuplicates::checkpoint(Scope scope) {
  Pages pages{.count = static_cast<std::uint32_t>(dirty_.size())};
  std::size_t slot = 0;
  for (std::uint32_t page = 0; page < pages.count; ++page) {
    const std::uint64_t end = (std::uint64_t{page} + 1) * kPageNumbers;
    SignaturePage made{.bands = sketcher_.bands()};
    const bool wanted = scope == Scope::kAll || dirty_[page];
    for (; slot < numbers_.size() && numbers_[slot] < end; ++slot) {
      if (!wanted || dead_[slot]) continue;
      const auto of = keys_of_slot(slot);
      made.numbers.push_back(numbers_[slot]);
      made.keys.insert(made.keys.end(), of.begin(), of.end());
    }
    if (wanted) pages.changed.emplace_back(page, encode(made));
    dirty_[page] = false;
  }
  return pages;
}

Status NearDuplicates::restore(const SignaturePage& page) {
  const bool follows =
      page.numbers.empty() || numbers_.empty() || page.numbers.front() > numbers_.back();
  if (page.bands != sketcher_.bands() || !follows) return damaged();
  for (std::size_t i = 0; i < page.numbers.size(); ++i)
    learn(page.numbers[i], std::span(page.keys).subspan(i * page.bands, page.bands));
  dirty_.assign(dirty_.size(), false);  // learn() marked them
  return Done{};
}

}  // namespace kin::index
