#include "stories/grouping/centroids.h"

#include <algorithm>
#include <cmath>

namespace kin::stories {
namespace {

// Shorter lists cost less than the rest of a search.
constexpr std::size_t kLongList = 4096;

}  // namespace

const CentroidTerm* Centroid::find(TermId term) const {
  const auto found = std::ranges::lower_bound(terms, term, {}, &CentroidTerm::term);
  return found != terms.end() && found->term == term ? &*found : nullptr;
}

void Centroids::make_room(std::uint32_t slot, TermId term) {
  if (centroids_.size() <= slot) {
    centroids_.resize(slot + 1);
    scores_.resize(slot + 1);
  }
  if (postings_.size() <= index(term)) postings_.resize(index(term) + 1);
}

void Centroids::set_weight(TermId term, std::uint32_t slot, float weight) {
  const auto found = std::ranges::find(postings(term), slot, &Posting::slot);
  if (found == postings(term).end()) {
    postings(term).push_back({slot, weight});
  } else {
    found->weight = weight;
  }
}

void Centroids::add(std::uint32_t slot, const TermVector& vector, std::vector<TermId>* fresh) {
  if (vector.empty()) return;
  make_room(slot, vector.back().term);
  Centroid& centroid = centroids_[slot];
  for (const TermWeight& part : vector) {
    auto at = std::ranges::lower_bound(centroid.terms, part.term, {}, &CentroidTerm::term);
    if (at == centroid.terms.end() || at->term != part.term) {
      at = centroid.terms.insert(at, {part.term, 0, 0});
      if (fresh != nullptr) fresh->push_back(part.term);
      postings(part.term).push_back({slot, part.weight});
    } else {
      set_weight(part.term, slot, at->weight + part.weight);
    }
    // (w + p)^2 - w^2, so that the squared length need not be summed again.
    centroid.square += (2.0 * at->weight + part.weight) * part.weight;
    at->weight += part.weight;
    ++at->count;
  }
}

void Centroids::merge(std::uint32_t from, std::uint32_t into) {
  if (empty(from)) return;
  const Centroid source = centroids_[from];
  clear(from);
  make_room(into, source.terms.back().term);
  Centroid& target = centroids_[into];
  std::vector<CentroidTerm> sum;
  sum.reserve(source.terms.size() + target.terms.size());
  std::ranges::merge(source.terms, target.terms, std::back_inserter(sum), {}, &CentroidTerm::term,
                     &CentroidTerm::term);
  target.terms.clear();
  for (const CentroidTerm& part : sum) {
    if (target.terms.empty() || target.terms.back().term != part.term) {
      target.terms.push_back(part);
    } else {
      target.terms.back().weight += part.weight;
      target.terms.back().count += part.count;
    }
  }
  target.square = 0;
  for (const CentroidTerm& part : target.terms) target.square += double{part.weight} * part.weight;
  for (const CentroidTerm& part : source.terms)
    set_weight(part.term, into, target.find(part.term)->weight);
}

void Centroids::clear(std::uint32_t slot) {
  if (empty(slot)) return;
  for (const CentroidTerm& part : centroids_[slot].terms)
    std::erase_if(postings(part.term),
                  [&](const Posting& posting) { return posting.slot == slot; });
  centroids_[slot] = {};
}

void Centroids::restore(std::uint32_t slot, Centroid centroid) {
  clear(slot);
  if (centroid.terms.empty()) return;
  make_room(slot, centroid.terms.back().term);
  for (const CentroidTerm& part : centroid.terms)
    postings(part.term).push_back({slot, part.weight});
  centroids_[slot] = std::move(centroid);
}

void Centroids::visit(TermId term, double weight) {
  if (index(term) >= postings_.size()) return;
  for (const Posting& posting : postings(term)) {
    Near& score = scores_[posting.slot];
    const double part = weight * posting.weight;
    // Scores are zero between calls, so this is the slot's first term.
    if (score.product == 0) touched_.push_back(posting.slot);
    score.product += part;
    score.largest = std::max(score.largest, part);
  }
}

void Centroids::add_to_found(TermId term, double weight) {
  for (const Posting& posting : postings(term)) {
    Near& score = scores_[posting.slot];
    if (score.product == 0) continue;
    const double part = weight * posting.weight;
    score.product += part;
    score.largest = std::max(score.largest, part);
  }
}

template <typename Terms>
void Centroids::visit_all(const Terms& terms) {
  const auto is_long = [&](const auto& part) { return length(part.term) > kLongList; };
  if (!terms.empty() && std::ranges::all_of(terms, is_long)) {
    const auto& rarest = *std::ranges::min_element(
        terms, {}, [&](const auto& part) { return std::pair(length(part.term), part.term); });
    visit(rarest.term, rarest.weight);
    return;
  }
  for (const auto& part : terms) {
    if (!is_long(part)) visit(part.term, part.weight);
  }
  for (const auto& part : terms) {
    if (is_long(part)) add_to_found(part.term, part.weight);
  }
}

std::span<const Centroids::Near> Centroids::finish(std::uint32_t except) {
  found_.clear();
  for (const std::uint32_t slot : touched_) {
    if (slot != except) found_.push_back({slot, scores_[slot].product, scores_[slot].largest});
    // Only slots that were touched are reset; there may be many others.
    scores_[slot] = {};
  }
  touched_.clear();
  return found_;
}

std::span<const Centroids::Near> Centroids::near(const TermVector& vector) {
  visit_all(vector);
  return finish(~std::uint32_t{0});
}

std::span<const Centroids::Near> Centroids::near(std::uint32_t slot, double least) {
  if (empty(slot)) return {};
  const Centroid& centroid = centroids_[slot];
  const double bar = least * std::sqrt(centroid.square);
  query_.clear();
  for (const CentroidTerm& part : centroid.terms) {
    if (part.weight >= bar) query_.push_back({part.term, part.weight});
  }
  visit_all(query_);
  return finish(slot);
}

}  // namespace kin::stories
