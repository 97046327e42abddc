#include "stories/grouping/profiles.h"

#include <algorithm>
#include <cmath>

namespace kin::stories {
namespace {

// Shorter lists cost less than the rest of a search.
constexpr std::size_t kLongList = 64;

double evidence_of(double evidence, std::uint32_t count, std::uint32_t members) {
  if (evidence == 0 || count >= members) return evidence;
  return evidence * std::sqrt(static_cast<double>(count) / members);
}

void add_part(TermId term, double count, const Vocabulary& vocabulary, Query& query) {
  const double weight = vocabulary.weight(term);
  const double weighted = weight * count;
  query.parts.push_back({.term = term,
                         .product = weight * weighted,
                         .square = weighted * weighted,
                         .evidence = vocabulary.evidence(term)});
}

void measure(Query& query) {
  double square = 0;
  for (const Query::Part& part : query.parts) square += part.square;
  query.length = std::sqrt(square) + 1e-12;
}

}  // namespace

void read_query(const Features& features, const Vocabulary& vocabulary, Query& query) {
  query.parts.clear();
  for (const ItemTerm& part : features.terms) add_part(part.term, part.count, vocabulary, query);
  measure(query);
}

void read_query(const Profile& profile, const Vocabulary& vocabulary, Query& query) {
  query.parts.clear();
  for (const ProfileTerm& part : profile.terms) add_part(part.term, part.sum, vocabulary, query);
  measure(query);
}

const ProfileTerm* Profile::find(TermId term) const {
  const auto found = std::ranges::lower_bound(terms, term, {}, &ProfileTerm::term);
  return found != terms.end() && found->term == term ? &*found : nullptr;
}

bool Reach::allows(double cosine, double found) const {
  double score = std::max(factor * std::min(1.0, cosine), std::min(1.0, cosine) + bonus);
  if (evidence > 0 && found < evidence) score *= found / evidence;
  return score >= least;
}

void Profiles::make_room(std::uint32_t slot, TermId term) {
  if (profiles_.size() <= slot) {
    profiles_.resize(slot + 1);
    scores_.resize(slot + 1);
  }
  if (postings_.size() <= index(term)) postings_.resize(index(term) + 1);
}

void Profiles::set_posting(std::uint32_t slot, const ProfileTerm& part) {
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
  for (const ItemTerm& item : features.terms) {
    auto at = std::ranges::lower_bound(profile.terms, item.term, {}, &ProfileTerm::term);
    if (at == profile.terms.end() || at->term != item.term)
      at = profile.terms.insert(at, {item.term, 0, 0});
    at->sum += item.count;
    ++at->count;
    vocabulary.recount(item.term, at->count - 1, at->count);
    set_posting(slot, *at);
  }
  ++profile.members;
  profile.parts += length;
  profile.meaning.add(features.meaning);
  measure(profile, vocabulary);
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
}

void Profiles::merge(std::uint32_t from, std::uint32_t into, Vocabulary& vocabulary) {
  const Profile source = profiles_[from];
  clear(from);
  Profile& target = profiles_[into];
  std::vector<ProfileTerm> sum;
  sum.reserve(source.terms.size() + target.terms.size());
  std::ranges::merge(source.terms, target.terms, std::back_inserter(sum), {}, &ProfileTerm::term,
                     &ProfileTerm::term);
  target.terms.clear();
  for (const ProfileTerm& part : sum) {
    if (target.terms.empty() || target.terms.back().term != part.term) {
      target.terms.push_back(part);
      continue;
    }
    target.terms.back().sum += part.sum;
    // Two stories with the term are one now.
    vocabulary.recount(part.term, part.count, 0);
    vocabulary.recount(part.term, target.terms.back().count,
                       target.terms.back().count + part.count);
    target.terms.back().count += part.count;
  }
  for (const ProfileTerm& part : source.terms) set_posting(into, *target.find(part.term));
  target.members += source.members;
  target.parts += source.parts;
  target.meaning.add(source.meaning);
  measure(target, vocabulary);
}

void Profiles::clear(std::uint32_t slot) {
  if (slot >= profiles_.size()) return;
  for (const ProfileTerm& part : profiles_[slot].terms) erase_posting(slot, part.term);
  profiles_[slot] = {};
}

void Profiles::restore(std::uint32_t slot, Profile profile) {
  clear(slot);
  make_room(slot, profile.terms.empty() ? TermId{} : profile.terms.back().term);
  for (const ProfileTerm& part : profile.terms) set_posting(slot, part);
  profiles_[slot] = std::move(profile);
}

void Profiles::visit(const Query::Part& part) {
  if (index(part.term) >= postings_.size()) return;
  for (const Posting& posting : postings_[index(part.term)]) {
    Match& score = scores_[posting.slot];
    // Scores are zero between calls, so this is the slot's first term.
    if (score.product == 0) touched_.push_back(posting.slot);
    score.product += part.product * posting.sum;
    if (part.evidence > 0)
      score.evidence += evidence_of(part.evidence, posting.count, profiles_[posting.slot].members);
  }
}

void Profiles::look_up(const Query::Part& part, Match& match) const {
  const Profile& profile = profiles_[match.slot];
  const ProfileTerm* found = profile.find(part.term);
  if (found == nullptr) return;
  match.product += part.product * found->sum;
  match.evidence += evidence_of(part.evidence, found->count, profile.members);
}

// Sorts the parts by the lengths of their lists, the longest first. The first ones, as many as
// returned, need not be visited: a profile that has these alone is out of reach. (By Cauchy's
// inequality its cosine is at most the length of these parts.)
std::size_t Profiles::skip_long_lists(const Query& query, const Reach& reach) {
  order_.clear();
  for (const Query::Part& part : query.parts) order_.push_back(&part);
  std::ranges::sort(order_, [&](const Query::Part* a, const Query::Part* b) {
    const std::size_t length_a = length(a->term);
    const std::size_t length_b = length(b->term);
    return length_a != length_b ? length_a > length_b : a->term < b->term;
  });
  rest_square_ = rest_evidence_ = 0;
  std::size_t skipped = 0;
  for (; skipped < order_.size(); ++skipped) {
    const Query::Part& part = *order_[skipped];
    if (length(part.term) < kLongList) break;
    const double square = rest_square_ + part.square;
    const double evidence = rest_evidence_ + part.evidence;
    if (reach.allows(std::sqrt(square) / query.length, evidence)) break;
    rest_square_ = square;
    rest_evidence_ = evidence;
  }
  return skipped;
}

std::span<const Profiles::Match> Profiles::near(const Query& query, const Reach& reach,
                                                std::uint32_t except) {
  found_.clear();
  touched_.clear();
  const std::size_t skipped = skip_long_lists(query, reach);
  for (std::size_t i = skipped; i < order_.size(); ++i) visit(*order_[i]);
  const double rest = std::sqrt(rest_square_) / query.length;
  for (const std::uint32_t slot : touched_) {
    Match match = std::exchange(scores_[slot], {});
    match.slot = slot;
    if (slot == except) continue;
    const double cosine = match.product / (query.length * profiles_[slot].length) + rest;
    if (!reach.allows(cosine, match.evidence + rest_evidence_)) continue;
    for (std::size_t i = 0; i < skipped; ++i) look_up(*order_[i], match);
    found_.push_back(match);
  }
  return found_;
}

}  // namespace kin::stories
