#include "dedup/scan/reference_grams.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "sketch/jaccard.h"

namespace kin::dedup {

std::size_t ReferenceGrams::enough_of(std::size_t count) const {
  // Rounded as a share of whole numbers: 0.8 of 5 is 4.
  const double enough = std::ceil(static_cast<double>(count) * share_ - 1e-9);
  return std::max<std::size_t>(static_cast<std::size_t>(enough), 1);
}

void ReferenceGrams::reserve(std::size_t grams) {
  hashes_of_references_.reserve(grams);
  places_.reserve(grams);
}

void ReferenceGrams::add(std::uint32_t number, std::span<const std::uint64_t> hashes) {
  std::vector<std::uint32_t> order(hashes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return hashes[a] != hashes[b] ? hashes[a] < hashes[b] : a < b;
  });
  const std::size_t first = places_.size();
  for (const std::uint32_t place : order) {
    if (places_.size() > first && hashes_of_references_.back() == hashes[place]) continue;
    hashes_of_references_.push_back(hashes[place]);
    places_.push_back(place);
  }
  const std::size_t count = places_.size() - first;
  references_.push_back({.number = number,
                         .rare = static_cast<std::uint32_t>(count - enough_of(count) + 1),
                         .first = first});
}

void ReferenceGrams::finish() {
  number_grams();
  sort_by_rarity();
  index_rarest();
}

void ReferenceGrams::number_grams() {
  hashes_ = hashes_of_references_;
  sketch::sort_unique(hashes_);
  if (hashes_.size() < hashes_.capacity() / 2) hashes_.shrink_to_fit();
  // Two to four hashes in a bucket: hashes are uniform.
  const int bits = std::max(static_cast<int>(std::bit_width(hashes_.size())) - 2, 1);
  shift_ = 64 - bits;
  buckets_.assign((std::size_t{1} << bits) + 1, 0);
  for (const std::uint64_t hash : hashes_) ++buckets_[(hash >> shift_) + 1];
  std::partial_sum(buckets_.begin(), buckets_.end(), buckets_.begin());
  grams_of_references_.reserve(hashes_of_references_.size());
  for (const std::uint64_t hash : hashes_of_references_)
    grams_of_references_.push_back(find(hash).value_or(0));
  hashes_of_references_ = {};
}

void ReferenceGrams::sort_by_rarity() {
  std::vector<std::uint32_t> uses(hashes_.size());
  for (const std::uint32_t gram : grams_of_references_) ++uses[gram];
  std::vector<Place> sorted;
  for (std::size_t reference = 0; reference < references_.size(); ++reference) {
    const std::size_t first = references_[reference].first;
    sorted.clear();
    sorted.reserve(end_of(reference) - first);
    for (std::size_t i = first; i < end_of(reference); ++i)
      sorted.push_back({.gram = grams_of_references_[i], .word = places_[i]});
    std::sort(sorted.begin(), sorted.end(), [&](const Place& a, const Place& b) {
      return uses[a.gram] != uses[b.gram] ? uses[a.gram] < uses[b.gram] : a.gram < b.gram;
    });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      grams_of_references_[first + i] = sorted[i].gram;
      places_[first + i] = sorted[i].word;
    }
  }
}

void ReferenceGrams::index_rarest() {
  const auto rarest = [&](std::size_t reference) {
    return grams_at(static_cast<std::uint32_t>(reference)).first(references_[reference].rare);
  };
  // One further, so that the ends of the parts become their beginnings while they are filled.
  first_posting_.assign(hashes_.size() + 2, 0);
  for (std::size_t reference = 0; reference < references_.size(); ++reference)
    for (const std::uint32_t gram : rarest(reference)) ++first_posting_[gram + 2];
  const auto with_any =
      first_posting_.size() -
      static_cast<std::size_t>(std::count(first_posting_.begin(), first_posting_.end(), 0));
  filter_ = FingerprintFilter(with_any * 2 + 64);
  for (std::size_t gram = 0; gram < hashes_.size(); ++gram)
    if (first_posting_[gram + 2] > 0) filter_.insert(hashes_[gram]);
  std::partial_sum(first_posting_.begin(), first_posting_.end(), first_posting_.begin());
  postings_.resize(first_posting_.back());
  for (std::size_t reference = 0; reference < references_.size(); ++reference)
    for (const std::uint32_t gram : rarest(reference))
      postings_[first_posting_[gram + 1]++] = static_cast<std::uint32_t>(reference);
}

std::size_t ReferenceGrams::end_of(std::size_t reference) const {
  return reference + 1 < references_.size() ? references_[reference + 1].first : places_.size();
}

std::span<const std::uint32_t> ReferenceGrams::grams_at(std::uint32_t reference) const {
  const std::size_t first = references_[reference].first;
  return std::span(grams_of_references_).subspan(first, end_of(reference) - first);
}

std::span<const std::uint32_t> ReferenceGrams::references_with(std::uint32_t gram) const {
  return std::span(postings_).subspan(first_posting_[gram],
                                      first_posting_[gram + 1] - first_posting_[gram]);
}

std::optional<std::uint32_t> ReferenceGrams::find(std::uint64_t hash) const {
  const std::size_t bucket = hash >> shift_;
  const auto begin = hashes_.begin() + buckets_[bucket];
  const auto end = hashes_.begin() + buckets_[bucket + 1];
  const auto at = std::lower_bound(begin, end, hash);
  if (at == end || *at != hash) return {};
  return static_cast<std::uint32_t>(at - hashes_.begin());
}

std::vector<ReferenceGrams::Place> ReferenceGrams::grams_of(std::uint32_t number) const {
  const auto at = std::ranges::lower_bound(references_, number, {}, &Reference::number);
  const auto reference = static_cast<std::uint32_t>(at - references_.begin());
  const std::span grams = grams_at(reference);
  std::vector<Place> found(grams.size());
  for (std::size_t i = 0; i < grams.size(); ++i)
    found[i] = {.gram = grams[i], .word = places_[at->first + i]};
  std::ranges::sort(found, {}, &Place::gram);
  return found;
}

ReferenceGrams::Search::Search(const ReferenceGrams& grams)
    : grams_(grams), bits_(grams.grams() / 64 + 1), hits_(grams.references()) {}

std::uint64_t ReferenceGrams::Search::memory(const ReferenceGrams& grams) {
  return grams.grams() / 8 + 2 * sizeof(std::uint32_t) * grams.references();
}

void ReferenceGrams::Search::clear() {
  for (const std::uint32_t gram : marked_) bits_[gram / 64] = 0;
  for (const std::uint32_t reference : met_) hits_[reference] = 0;
  marked_.clear();
  met_.clear();
  refuted_.clear();
  all_marked_ = false;
}

void ReferenceGrams::Search::forget() {
  clear();
  text_ = {};
  marked_ = {};
}

// False if it was marked already.
bool ReferenceGrams::Search::mark(std::uint32_t gram) {
  std::uint64_t& word = bits_[gram / 64];
  const std::uint64_t bit = std::uint64_t{1} << (gram % 64);
  if ((word & bit) != 0) return false;
  word |= bit;
  marked_.push_back(gram);
  return true;
}

void ReferenceGrams::Search::begin(std::span<const std::uint64_t> hashes) {
  clear();
  text_ = hashes;
  for (const std::uint64_t hash : hashes) {
    if (!grams_.filter_.may_contain(hash)) continue;
    const auto gram = grams_.find(hash);
    if (!gram || grams_.references_with(*gram).empty() || !mark(*gram)) continue;
    const std::span references = grams_.references_with(*gram);
    steps_ += references.size();
    for (const std::uint32_t reference : references)
      if (hits_[reference]++ == 0) met_.push_back(reference);
  }
}

void ReferenceGrams::Search::mark_all() {
  if (std::exchange(all_marked_, true)) return;
  for (const std::uint64_t hash : text_)
    if (const auto gram = grams_.find(hash)) mark(*gram);
}

ReferenceGrams::Claim ReferenceGrams::Search::claim_of(std::uint32_t reference,
                                                       std::size_t missing) const {
  const auto all = static_cast<double>(grams_.grams_at(reference).size());
  return {.share = (all - static_cast<double>(missing)) / all,
          .number = grams_.references_[reference].number};
}

std::size_t ReferenceGrams::Search::missing_rare(std::uint32_t reference) const {
  return grams_.references_[reference].rare - hits_[reference];
}

// How many grams a text may lack that has enough of them, and more than the best so far. Lacking
// the rarest that it lacks, it can do both.
std::size_t ReferenceGrams::Search::most_missing(std::uint32_t reference,
                                                 const std::optional<Claim>& best) const {
  const std::size_t most = grams_.references_[reference].rare - 1;
  if (!best) return most;
  // At most one too many.
  const auto all = static_cast<double>(grams_.grams_at(reference).size());
  auto fewer = std::min(most, static_cast<std::size_t>(all * (1 - best->share)) + 1);
  while (fewer > 0 && !claim_of(reference, fewer).beats(*best)) --fewer;
  return fewer;
}

// Replaces `best` if the text has more of the reference.
void ReferenceGrams::Search::consider(std::uint32_t reference, std::optional<Claim>& best) {
  std::size_t missing = missing_rare(reference);
  if (best && !claim_of(reference, missing).beats(*best)) return;
  if (std::ranges::find(refuted_, reference) != refuted_.end()) return;
  const std::size_t most = most_missing(reference, best);
  const auto rest = grams_.grams_at(reference).subspan(grams_.references_[reference].rare);
  for (const std::uint32_t gram : rest) {
    ++steps_;
    if ((bits_[gram / 64] >> (gram % 64) & 1) != 0) continue;
    if (++missing > most) return;
  }
  best = claim_of(reference, missing);
}

std::optional<ReferenceGrams::Claim> ReferenceGrams::Search::best(
    const std::optional<Claim>& least) {
  // The most promising reference first: most others cannot come before it.
  std::optional<std::uint32_t> first;
  std::optional<Claim> bound = least;
  for (const std::uint32_t reference : met_) {
    const Claim claim = claim_of(reference, missing_rare(reference));
    if (bound && !claim.beats(*bound)) continue;
    if (std::ranges::find(refuted_, reference) != refuted_.end()) continue;
    bound = claim;
    first = reference;
  }
  if (!first) return {};
  mark_all();
  std::optional<Claim> best = least;
  consider(*first, best);
  for (const std::uint32_t reference : met_) consider(reference, best);
  if (best && (!least || best->beats(*least))) return best;
  return {};
}

void ReferenceGrams::Search::refute(std::uint32_t number) {
  const auto at = std::ranges::lower_bound(grams_.references_, number, {}, &Reference::number);
  refuted_.push_back(static_cast<std::uint32_t>(at - grams_.references_.begin()));
}

}  // namespace kin::dedup
