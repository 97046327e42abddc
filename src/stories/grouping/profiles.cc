#include "stories/grouping/profiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kin::stories {
namespace {

// Shorter lists cost less than the rest of a search.
constexpr std::size_t kLongList = 64;

// The lengths of profiles with more terms are not recomputed with the present weights at each
// headline; they grow by its terms.
constexpr std::size_t kMeasuredTerms = 200;

// How many cache lines are loaded ahead of their use.
constexpr std::size_t kAhead = 8;

// The growth of a profile's squared length when `more` of a term is added.
double growth(TermId term, double sum, double more, const Vocabulary& vocabulary) {
  const double weight = vocabulary.weight(term);
  return weight * weight * more * (2 * sum + more);
}

double evidence_of(double evidence, std::uint32_t count, std::uint32_t members) {
  if (evidence == 0 || count >= members) return evidence;
  return evidence * std::sqrt(static_cast<double>(count) / members);
}

void clear(Query& query) {
  query.parts.clear();
  query.labels.clear();
}

// A term of a query that has it `count` times in all, in this share of its headlines.
void add_part(TermId term, double count, double share, const Vocabulary& vocabulary, Query& query) {
  if (vocabulary.term(term).kind == TermKind::kLabel) {
    if (vocabulary.is_column_label(term)) query.labels.push_back({term, share});
    return;
  }
  const auto [weight, evidence] = vocabulary.weigh(term);
  const double weighted = weight * count;
  query.parts.push_back({.term = term,
                         .product = weight * weighted,
                         .square = weighted * weighted,
                         .evidence = evidence});
}

void measure(Query& query) {
  double square = 0;
  for (const Query::Part& part : query.parts) square += part.square;
  query.length = std::sqrt(square) + 1e-12;
}

}  // namespace

void read_query(const Features& features, const Vocabulary& vocabulary, Query& query) {
  clear(query);
  for (const ItemTerm& part : features.terms) add_part(part.term, part.count, 1, vocabulary, query);
  measure(query);
}

void read_query(const Profile& profile, const Vocabulary& vocabulary, Query& query) {
  clear(query);
  for (const ProfileTerm& part : profile.terms)
    add_part(part.term, part.sum, profile.share(part), vocabulary, query);
  measure(query);
}

// A binary search without branches, which could not be predicted.
const ProfileTerm* Profile::find(TermId term) const {
  if (terms.empty()) return nullptr;
  const ProfileTerm* first = terms.data();
  for (std::size_t left = terms.size(); left > 1;) {
    const std::size_t half = left / 2;
    first += first[half - 1].term < term ? half : 0;
    left -= half;
  }
  return first->term == term ? first : nullptr;
}

double Reach::score(double cosine, double found) const {
  const double most = std::max(factor * std::min(1.0, cosine), std::min(1.0, cosine) + bonus);
  return evidence > 0 && found < evidence ? most * found / evidence : most;
}

void Profiles::make_room(std::uint32_t slot, TermId term) {
  if (profiles_.size() <= slot) {
    profiles_.resize(slot + 1);
    seats_.resize(slot + 1);
    filters_.resize(slot + 1);
  }
  if (postings_.size() <= index(term)) postings_.resize(index(term) + 1);
}

void Profiles::set_posting(std::uint32_t slot, const ProfileTerm& part) {
  filters_[slot].add(part.term);
  Postings& list = postings_[index(part.term)];
  auto at = list.end();
  // New stories mostly have the highest slot.
  if (!list.empty() && list.back().slot >= slot)
    at = std::ranges::lower_bound(list, slot, {}, &Posting::slot);
  if (at == list.end() || at->slot != slot) {
    list.insert(at, {slot, part.sum, part.count});
  } else {
    *at = {slot, part.sum, part.count};
  }
}

void Profiles::erase_posting(std::uint32_t slot, TermId term) {
  Postings& list = postings_[index(term)];
  const auto at = std::ranges::lower_bound(list, slot, {}, &Posting::slot);
  if (at != list.end() && at->slot == slot) list.erase(at);
  // Most terms never come back, so their lists should not keep memory.
  if (list.empty()) Postings().swap(list);
}

void Profiles::measure(Profile& profile, const Vocabulary& vocabulary) {
  double square = 0;
  for (const ProfileTerm& part : profile.terms) {
    const double weighted = vocabulary.weight(part.term) * part.sum;
    square += weighted * weighted;
  }
  profile.length = std::sqrt(square) + 1e-12;
}

void Profiles::add(std::uint32_t slot, const Features& features, double length,
                   Vocabulary& vocabulary) {
  make_room(slot, features.terms.empty() ? TermId{} : features.terms.back().term);
  Profile& profile = profiles_[slot];
  // Most stories have one headline, so the first one gets the room it needs.
  if (profile.terms.empty()) profile.terms.reserve(features.terms.size());
  const bool is_large = profile.terms.size() > kMeasuredTerms;
  double square = profile.length * profile.length;
  for (const ItemTerm& item : features.terms) {
    const Postings& list = postings_[index(item.term)];
    if (!list.empty()) __builtin_prefetch(&list.back(), 1);
  }
  for (const ItemTerm& item : features.terms) {
    auto at = std::ranges::lower_bound(profile.terms, item.term, {}, &ProfileTerm::term);
    if (at == profile.terms.end() || at->term != item.term)
      at = profile.terms.insert(at, {item.term, 0, 0});
    if (is_large) square += growth(item.term, at->sum, item.count, vocabulary);
    at->sum += item.count;
    ++at->count;
    vocabulary.recount(item.term, at->count - 1, at->count);
    set_posting(slot, *at);
  }
  ++profile.members;
  profile.parts += length;
  profile.meaning.add(features.meaning);
  if (is_large) {
    profile.length = std::sqrt(square);
  } else {
    measure(profile, vocabulary);
  }
  note(slot);
}

void Profiles::remove(std::uint32_t slot, const Features& features, double length,
                      Vocabulary& vocabulary) {
  Profile& profile = profiles_[slot];
  for (const ItemTerm& item : features.terms) {
    const auto at = std::ranges::lower_bound(profile.terms, item.term, {}, &ProfileTerm::term);
    at->sum -= item.count;
    --at->count;
    vocabulary.recount(item.term, at->count + 1, at->count);
    if (at->count == 0) {
      profile.terms.erase(at);
      erase_posting(slot, item.term);
    } else {
      set_posting(slot, *at);
    }
  }
  --profile.members;
  profile.parts -= length;
  profile.meaning.subtract(features.meaning);
  measure(profile, vocabulary);
  note(slot);
}

void Profiles::merge(std::uint32_t from, std::uint32_t into, Vocabulary& vocabulary) {
  Profile source = profiles_[from];
  clear(from);
  Profile& target = profiles_[into];
  // Terms of the smaller profile are added to the larger one.
  if (source.terms.size() > target.terms.size()) {
    for (const ProfileTerm& part : source.terms) set_posting(into, part);
    std::swap(source, target);
  }
  const bool is_large = target.terms.size() > kMeasuredTerms;
  double square = target.length * target.length;
  for (const ProfileTerm& part : source.terms) {
    auto at = std::ranges::lower_bound(target.terms, part.term, {}, &ProfileTerm::term);
    if (at == target.terms.end() || at->term != part.term)
      at = target.terms.insert(at, {part.term, 0, 0});
    if (is_large) square += growth(part.term, at->sum, part.sum, vocabulary);
    // Two stories with the term have become one.
    vocabulary.recount(part.term, part.count, 0);
    vocabulary.recount(part.term, at->count, at->count + part.count);
    at->sum += part.sum;
    at->count += part.count;
    set_posting(into, *at);
  }
  target.members += source.members;
  target.parts += source.parts;
  target.meaning.add(source.meaning);
  if (is_large) {
    target.length = std::sqrt(square);
  } else {
    measure(target, vocabulary);
  }
  note(into);
}

void Profiles::clear(std::uint32_t slot) {
  if (slot >= profiles_.size()) return;
  for (const ProfileTerm& part : profiles_[slot].terms) erase_posting(slot, part.term);
  profiles_[slot] = {};
  filters_[slot] = {};
  note(slot);
}

void Profiles::restore(std::uint32_t slot, Profile profile) {
  clear(slot);
  make_room(slot, profile.terms.empty() ? TermId{} : profile.terms.back().term);
  for (const ProfileTerm& part : profile.terms) set_posting(slot, part);
  profiles_[slot] = std::move(profile);
  note(slot);
}

void Profiles::visit(const Query::Part& part) {
  if (index(part.term) >= postings_.size()) return;
  const Postings& list = postings_[index(part.term)];
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i + kAhead < list.size()) __builtin_prefetch(&seats_[list[i + kAhead].slot], 1);
    const Posting& posting = list[i];
    Seat& seat = seats_[posting.slot];
    // Products are zero between calls, so this is the slot's first term.
    if (seat.product == 0) touched_.push_back(posting.slot);
    seat.product += part.product * posting.sum;
    if (part.evidence > 0)
      seat.evidence += evidence_of(part.evidence, posting.count, seat.members);
  }
}

// Adds the parts that were not visited. False as soon as the profile is out of reach.
bool Profiles::look_up(const Query& query, const Reach& reach, std::size_t skipped,
                       Match& match) const {
  const Seat& seat = seats_[match.slot];
  const double scale = 1 / (query.length * seat.length);
  double square = rest_square_;
  double evidence = rest_evidence_;
  // From the rarest on: without it most profiles are out of reach.
  for (std::size_t left = skipped;; --left) {
    const double rest = std::sqrt(std::max(0.0, square)) / query.length;
    const double most = reach.score(match.product * scale + rest, match.evidence + evidence);
    if (most < reach.least) return false;
    if (left == 0) return true;
    const Query::Part& part = *order_[left - 1].part;
    square -= part.square;
    evidence -= part.evidence;
    if (!filters_[match.slot].may_have(part.term)) continue;
    const ProfileTerm* found = profiles_[match.slot].find(part.term);
    if (found == nullptr) continue;
    match.product += part.product * found->sum;
    match.evidence += evidence_of(part.evidence, found->count, seat.members);
  }
}

void Profiles::sort_by_length(const Query& query) {
  order_.clear();
  for (const Query::Part& part : query.parts) {
    if (index(part.term) < postings_.size()) __builtin_prefetch(&postings_[index(part.term)]);
  }
  for (const Query::Part& part : query.parts) order_.push_back({length(part.term), &part});
  std::ranges::sort(order_, [](const Listed& a, const Listed& b) {
    return a.length != b.length ? a.length > b.length : a.part->term < b.part->term;
  });
}

// The number of lists at the front that need not be visited: a profile that has only their terms is
// out of reach. (By Cauchy's inequality its cosine is at most the length of these parts.) Beyond
// limits_.postings, lists are left out even if such a profile may be within reach.
std::size_t Profiles::skip_long_lists(const Query& query, const Reach& reach) {
  std::size_t postings = 0;
  for (const Listed& listed : order_) postings += listed.length;
  rest_square_ = rest_evidence_ = 0;
  std::size_t skipped = 0;
  for (; skipped < order_.size(); ++skipped) {
    const auto& [length, part] = order_[skipped];
    if (length < kLongList) break;
    const double square = rest_square_ + part->square;
    const double evidence = rest_evidence_ + part->evidence;
    const bool matters = reach.score(std::sqrt(square) / query.length, evidence) >= reach.least;
    if (matters && postings <= limits_.postings) break;
    postings -= length;
    rest_square_ = square;
    rest_evidence_ = evidence;
  }
  return skipped;
}

// The loads of all lists to visit, and then of their first profiles, overlap.
void Profiles::prefetch_lists(std::size_t skipped) const {
  for (std::size_t i = skipped; i < order_.size(); ++i) {
    if (order_[i].length > 0) __builtin_prefetch(postings_[index(order_[i].part->term)].data());
  }
  for (std::size_t i = skipped; i < order_.size(); ++i) {
    if (order_[i].length == 0) return;
    const Postings& list = postings_[index(order_[i].part->term)];
    for (std::size_t k = 0; k < std::min(kAhead, list.size()); ++k)
      __builtin_prefetch(&seats_[list[k].slot], 1);
  }
}

// Fills bounds_ with the visited profiles that may be within reach and their highest possible
// scores.
void Profiles::collect(const Query& query, const Reach& reach) {
  bounds_.clear();
  const double rest = std::sqrt(rest_square_) / query.length;
  for (const std::uint32_t slot : touched_) {
    Seat& seat = seats_[slot];
    const Match match{slot, std::exchange(seat.product, 0), std::exchange(seat.evidence, 0)};
    const double cosine = match.product / (query.length * seat.length) + rest;
    const double most = reach.score(cosine, match.evidence + rest_evidence_);
    if (most >= reach.least) bounds_.push_back({most, match});
  }
}

// Keeps the accepted profiles with the best bounds, and all that equal the last of them, so that
// the result does not depend on slots. Whether a profile is accepted costs more than its bound, so
// only the best are asked for.
void Profiles::keep_best(const Accepts& accepts) {
  kept_.clear();
  std::ranges::make_heap(bounds_, {}, &Bound::most);
  for (auto end = bounds_.end(); end != bounds_.begin();) {
    const double most = bounds_.front().most;
    if (kept_.size() >= limits_.profiles && most < kept_.back().most) return;
    std::ranges::pop_heap(bounds_.begin(), end, {}, &Bound::most);
    --end;
    if (accepts(end->match.slot)) kept_.push_back(*end);
  }
}

void Profiles::prefetch_filters() const {
  for (const Bound& bound : kept_) {
    __builtin_prefetch(&filters_[bound.match.slot]);
    __builtin_prefetch(&seats_[bound.match.slot]);
  }
}

std::span<const Profiles::Match> Profiles::near(const Query& query, const Reach& reach,
                                                const Accepts& accepts) {
  found_.clear();
  touched_.clear();
  sort_by_length(query);
  const std::size_t skipped = skip_long_lists(query, reach);
  prefetch_lists(skipped);
  for (std::size_t i = skipped; i < order_.size(); ++i) visit(*order_[i].part);
  collect(query, reach);
  keep_best(accepts);
  if (skipped > 0) prefetch_filters();
  for (Bound& bound : kept_) {
    if (look_up(query, reach, skipped, bound.match)) found_.push_back(bound.match);
  }
  return found_;
}

}  // namespace kin::stories
