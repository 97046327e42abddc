#include "index/text/matcher.h"

#include <algorithm>
#include <optional>

namespace kin::index {
namespace {

constexpr Score kLeast = 1;  // score of a match without a scoring term

std::uint32_t count(std::span<const std::uint32_t> positions) {
  return static_cast<std::uint32_t>(positions.size());
}

// The first document from `target` on that all parts have: each part in turn moves to the document
// that the part before found, until all agree. seek(i, target) moves part i.
template <typename Seek>
std::uint32_t align_parts(std::size_t parts, std::uint32_t target, const Seek& seek) {
  std::size_t agreed = 0;
  for (std::size_t i = 0; agreed < parts; i = (i + 1) % parts) {
    const std::uint32_t found = seek(i, target);
    if (found == kNoDoc) return kNoDoc;
    agreed = found == target ? agreed + 1 : 1;
    target = found;
  }
  return target;
}

class NothingMatcher final : public Matcher {
 public:
  NothingMatcher() { doc_ = kNoDoc; }
  std::uint32_t seek(std::uint32_t) override { return kNoDoc; }
  Score score() override { return 0; }
  void explain(std::vector<TermShare>&) override {}
  ScoreBound bound(std::uint32_t) override { return {}; }
};

class EverythingMatcher final : public Matcher {
 public:
  explicit EverythingMatcher(std::uint32_t size) : size_(size) {}
  std::uint32_t seek(std::uint32_t target) override {
    return doc_ = target < size_ ? target : kNoDoc;
  }
  Score score() override { return kLeast; }
  void explain(std::vector<TermShare>&) override {}
  ScoreBound bound(std::uint32_t) override { return {.most = kLeast}; }

 private:
  std::uint32_t size_;
};

// The best score of each block, computed on first use.
class TermBounds {
 public:
  TermBounds(float weight, LengthNorm norm) : weight_(weight), norm_(norm) {}

  ScoreBound at(const PostingCursor& cursor, std::uint32_t target) {
    // A list of one block keeps no impacts; the weight is the upper limit. 5 covers the unit that
    // every match gets, and rounding, as in score_bound().
    if (cursor.blocks() == 1) return {.most = static_cast<Score>(weight_) + 5};
    const std::uint32_t block = cursor.block_of(target);
    if (block == cursor.blocks()) return {};
    if (block != block_) {
      most_ = 0;
      for (const Impact& impact : cursor.impacts(block))
        most_ = std::max(most_, score_bound(weight_, norm_, impact.frequency, impact.length));
      block_ = block;
    }
    return {.most = most_, .last = cursor.block_last(block)};
  }

 private:
  float weight_;
  LengthNorm norm_;
  std::uint32_t block_ = kNoDoc;
  std::uint32_t most_ = 0;
};

// The usual case: one term, scored by its weighted frequency over all fields.
class TermMatcher final : public Matcher {
 public:
  TermMatcher(const PlanTerm& term, const TermPostings& postings, LengthNorm norm,
              const TextSegment& segment)
      : term_(term),
        cursor_(postings),
        norm_(norm),
        lengths_(segment.docs().lengths.data()),
        bounds_(term.weight, norm) {}

  std::uint32_t seek(std::uint32_t target) override { return doc_ = cursor_.seek(target); }
  Score score() override {
    return term_score(term_.weight, norm_, cursor_.frequency(), lengths_[doc_]);
  }
  void explain(std::vector<TermShare>& shares) override {
    shares.push_back({.term = &term_, .occurrences = count(cursor_.positions()), .score = score()});
  }
  ScoreBound bound(std::uint32_t target) override { return bounds_.at(cursor_, target); }

 private:
  const PlanTerm& term_;
  PostingCursor cursor_;
  LengthNorm norm_;
  const std::uint32_t* lengths_;
  TermBounds bounds_;
};

// A term in one field: only positions tell where it stands.
class FieldTermMatcher final : public Matcher {
 public:
  FieldTermMatcher(const PlanTerm& term, const TermPostings& postings, LengthNorm norm,
                   const TextSegment& segment, Plan::Field field)
      : term_(term),
        cursor_(postings),
        norm_(norm),
        segment_(segment),
        field_(field),
        bounds_(term.weight, norm) {}

  std::uint32_t seek(std::uint32_t target) override {
    for (doc_ = cursor_.seek(target); doc_ != kNoDoc; doc_ = cursor_.next()) {
      // Positions of all fields follow each other, so those of one field are a range.
      const auto positions = cursor_.positions();
      const auto range = segment_.field_range(doc_, field_.place);
      const auto inside = std::ranges::count_if(positions, [&](std::uint32_t position) {
        return position >= range.begin && position < range.end;
      });
      if (inside == 0) continue;
      frequency_ = static_cast<std::uint32_t>(inside) * field_.quarters;
      return doc_;
    }
    return kNoDoc;
  }
  Score score() override {
    return term_score(term_.weight, norm_, frequency_, segment_.docs().lengths[doc_]);
  }
  void explain(std::vector<TermShare>& shares) override {
    shares.push_back(
        {.term = &term_, .occurrences = frequency_ / field_.quarters, .score = score()});
  }
  ScoreBound bound(std::uint32_t target) override { return bounds_.at(cursor_, target); }

 private:
  const PlanTerm& term_;
  PostingCursor cursor_;
  LengthNorm norm_;
  const TextSegment& segment_;
  Plan::Field field_;
  TermBounds bounds_;
  std::uint32_t frequency_ = 0;
};

// Terms at fixed distances. Documents that have all of them are found first; then positions decide.
class PhraseMatcher final : public Matcher {
 public:
  PhraseMatcher(const Plan& plan, const std::vector<TermPostings>& postings, LengthNorm norm,
                const TextSegment& segment)
      : plan_(plan), norm_(norm), segment_(segment) {
    cursors_.reserve(postings.size());
    for (std::size_t i = 0; i < postings.size(); ++i) {
      cursors_.emplace_back(postings[i]);
      bounds_.emplace_back(plan.terms[i].weight, norm);
    }
  }

  std::uint32_t seek(std::uint32_t target) override {
    for (std::uint32_t candidate = align(target); candidate != kNoDoc;
         candidate = align(candidate + 1)) {
      if (stands_in(candidate)) return doc_ = candidate;
    }
    return doc_ = kNoDoc;
  }

  Score score() override {
    Score sum = 0;
    for (std::size_t i = 0; i < cursors_.size(); ++i) sum += share(i);
    return sum;
  }
  void explain(std::vector<TermShare>& shares) override {
    for (std::size_t i = 0; i < cursors_.size(); ++i)
      shares.push_back({.term = &plan_.terms[i],
                        .occurrences = count(cursors_[i].positions()),
                        .score = share(i)});
  }
  // The bound of a document with all terms, wherever they stand.
  ScoreBound bound(std::uint32_t target) override {
    ScoreBound sum;
    for (std::size_t i = 0; i < cursors_.size(); ++i) sum.add(bounds_[i].at(cursors_[i], target));
    return sum;
  }

 private:
  Score share(std::size_t i) const {
    return term_score(plan_.terms[i].weight, norm_, cursors_[i].frequency(),
                      segment_.docs().lengths[doc_]);
  }

  std::uint32_t align(std::uint32_t target) {
    return align_parts(cursors_.size(), target,
                       [&](std::size_t i, std::uint32_t to) { return cursors_[i].seek(to); });
  }

  bool stands_in(std::uint32_t candidate) {
    // The gap between two fields is wider than a phrase has gaps, so a phrase stands in one field.
    std::optional<TextSegment::FieldRange> range;
    if (plan_.field) range = segment_.field_range(candidate, plan_.field->place);
    for (const std::uint32_t first : cursors_.front().positions()) {
      const std::uint64_t end = std::uint64_t{first} + plan_.offsets.back();
      if (range && (first < range->begin || end >= range->end)) continue;
      if (all_from(first)) return true;
    }
    return false;
  }

  bool all_from(std::uint32_t first) {
    for (std::size_t i = 1; i < cursors_.size(); ++i) {
      if (!std::ranges::binary_search(cursors_[i].positions(), first + plan_.offsets[i]))
        return false;
    }
    return true;
  }

  const Plan& plan_;
  LengthNorm norm_;
  const TextSegment& segment_;
  std::vector<PostingCursor> cursors_;
  std::vector<TermBounds> bounds_;
};

// Matches that were computed beforehand.
class ListMatcher final : public Matcher {
 public:
  struct Entry {
    std::uint32_t doc;
    Score score;
  };
  explicit ListMatcher(std::vector<Entry> entries) : entries_(std::move(entries)) {
    for (const Entry& entry : entries_) most_ = std::max(most_, entry.score);
  }

  std::uint32_t seek(std::uint32_t target) override {
    // Moves are often to the next entry or none at all; a binary search covers long ones.
    if (at_ < entries_.size() && entries_[at_].doc < target) {
      const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(at_);
      at_ = static_cast<std::size_t>(
          std::lower_bound(begin, entries_.end(), target,
                           [](const Entry& entry, std::uint32_t doc) { return entry.doc < doc; }) -
          entries_.begin());
    }
    return doc_ = at_ < entries_.size() ? entries_[at_].doc : kNoDoc;
  }
  Score score() override { return entries_[at_].score; }
  void explain(std::vector<TermShare>&) override {}
  ScoreBound bound(std::uint32_t) override { return {.most = most_}; }

 private:
  std::vector<Entry> entries_;
  std::size_t at_ = 0;
  Score most_ = 0;
};

// Any of several. Queries have few parts: a loop over them is cheaper than a heap.
class AnyMatcher final : public Matcher {
 public:
  explicit AnyMatcher(std::vector<std::unique_ptr<Matcher>> parts) : parts_(std::move(parts)) {}

  std::uint32_t seek(std::uint32_t target) override {
    doc_ = kNoDoc;
    for (const auto& part : parts_) doc_ = std::min(doc_, part->reach(target));
    return doc_;
  }
  Score score() override {
    Score sum = 0;
    // Parts that do not match stand beyond the document.
    for (const auto& part : parts_) {
      if (part->doc() == doc_) sum += part->score();
    }
    return sum;
  }
  void explain(std::vector<TermShare>& shares) override {
    for (const auto& part : parts_) {
      if (part->doc() == doc_) part->explain(shares);
    }
  }
  ScoreBound bound(std::uint32_t target) override {
    ScoreBound sum;
    for (const auto& part : parts_) sum.add(part->bound(target));
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Matcher>> parts_;
};

// All of `must`, none of `must_not`; matching parts of `should` add to the score.
class AllMatcher final : public Matcher {
 public:
  AllMatcher(std::vector<std::unique_ptr<Matcher>> must, std::unique_ptr<Matcher> should,
             std::unique_ptr<Matcher> must_not)
      : must_(std::move(must)), should_(std::move(should)), must_not_(std::move(must_not)) {}

  std::uint32_t seek(std::uint32_t target) override {
    // must_not_ moves only to documents that all of `must` have.
    for (doc_ = align(target); doc_ != kNoDoc; doc_ = align(doc_ + 1)) {
      if (must_not_ == nullptr || must_not_->reach(doc_) != doc_) return doc_;
    }
    return kNoDoc;
  }
  Score score() override {
    Score sum = 0;
    for (const auto& part : must_) sum += part->score();
    if (should_ != nullptr && should_->reach(doc_) == doc_) sum += should_->score();
    return sum;
  }
  void explain(std::vector<TermShare>& shares) override {
    for (const auto& part : must_) part->explain(shares);
    if (should_ != nullptr && should_->reach(doc_) == doc_) should_->explain(shares);
  }
  ScoreBound bound(std::uint32_t target) override {
    ScoreBound sum;
    for (const auto& part : must_) sum.add(part->bound(target));
    if (should_ != nullptr) sum.add(should_->bound(target));
    return sum;
  }

 private:
  std::uint32_t align(std::uint32_t target) {
    return align_parts(must_.size(), target,
                       [&](std::size_t i, std::uint32_t to) { return must_[i]->seek(to); });
  }

  std::vector<std::unique_ptr<Matcher>> must_;
  std::unique_ptr<Matcher> should_;
  std::unique_ptr<Matcher> must_not_;
};

using Matchers = std::vector<std::unique_ptr<Matcher>>;

std::unique_ptr<Matcher> any_of(Matchers parts) {
  if (parts.empty()) return std::make_unique<NothingMatcher>();
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<AnyMatcher>(std::move(parts));
}

class MatcherMaker {
 public:
  MatcherMaker(LengthNorm norm, const TextSegment& segment) : norm_(norm), segment_(segment) {}

  std::unique_ptr<Matcher> make(const Plan& plan) const {
    switch (plan.kind) {
      case Plan::Kind::kNothing: return std::make_unique<NothingMatcher>();
      case Plan::Kind::kEverything: return std::make_unique<EverythingMatcher>(segment_.size());
      case Plan::Kind::kTerms: return terms(plan);
      case Plan::Kind::kPhrase: return phrase(plan);
      case Plan::Kind::kFacet: return facet(plan);
      case Plan::Kind::kBoolean: return boolean(plan);
    }
    KIN_UNREACHABLE();
  }

 private:
  std::unique_ptr<Matcher> term(const PlanTerm& term,
                                const std::optional<Plan::Field>& field) const {
    const auto postings = segment_.find(term.key);
    if (!postings) return nullptr;
    if (field) return std::make_unique<FieldTermMatcher>(term, *postings, norm_, segment_, *field);
    return std::make_unique<TermMatcher>(term, *postings, norm_, segment_);
  }

  std::unique_ptr<Matcher> terms(const Plan& plan) const {
    constexpr std::size_t kFew = 32;  // parts that AnyMatcher moves one by one
    Matchers found;
    for (const PlanTerm& one : plan.terms) {
      if (auto matcher = term(one, plan.field)) found.push_back(std::move(matcher));
    }
    if (found.size() <= kFew) return any_of(std::move(found));
    return summed(found);
  }

  // A prefix can stand for thousands of terms: their scores are summed term by term.
  std::unique_ptr<Matcher> summed(const Matchers& parts) const {
    // Every term that matches scores at least one, so 0 marks a document without a match.
    std::vector<Score> scores(segment_.size(), 0);
    for (const auto& part : parts) {
      for (std::uint32_t doc = part->seek(0); doc != kNoDoc; doc = part->seek(doc + 1))
        scores[doc] += part->score();
    }
    std::vector<ListMatcher::Entry> entries;
    for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
      if (scores[doc] > 0) entries.push_back({doc, scores[doc]});
    }
    return std::make_unique<ListMatcher>(std::move(entries));
  }

  std::unique_ptr<Matcher> facet(const Plan& plan) const {
    std::vector<std::uint32_t> docs;
    for (const PlanTerm& one : plan.terms) {
      const auto postings = segment_.find(one.key);
      if (!postings) continue;
      PostingCursor cursor(*postings);
      for (cursor.next(); cursor.doc() != kNoDoc; cursor.next()) docs.push_back(cursor.doc());
    }
    std::ranges::sort(docs);
    docs.erase(std::ranges::unique(docs).begin(), docs.end());
    std::vector<ListMatcher::Entry> entries;
    for (const std::uint32_t doc : docs) entries.push_back({doc, kLeast});
    return std::make_unique<ListMatcher>(std::move(entries));
  }

  std::unique_ptr<Matcher> phrase(const Plan& plan) const {
    std::vector<TermPostings> postings;
    for (const PlanTerm& one : plan.terms) {
      const auto found = segment_.find(one.key);
      if (!found) return std::make_unique<NothingMatcher>();  // a phrase needs all its words
      postings.push_back(*found);
    }
    return std::make_unique<PhraseMatcher>(plan, postings, norm_, segment_);
  }

  Matchers all(const std::vector<Plan>& plans) const {
    Matchers matchers;
    for (const Plan& plan : plans) matchers.push_back(make(plan));
    return matchers;
  }

  std::unique_ptr<Matcher> boolean(const Plan& plan) const {
    Matchers must = all(plan.must);
    std::unique_ptr<Matcher> should = plan.should.empty() ? nullptr : any_of(all(plan.should));
    std::unique_ptr<Matcher> must_not =
        plan.must_not.empty() ? nullptr : any_of(all(plan.must_not));
    // Without `must` at least one of `should` has to match; that alone needs no AllMatcher.
    if (must.empty() && should != nullptr) {
      if (must_not == nullptr) return should;
      must.push_back(std::move(should));
    }
    if (must.empty()) must.push_back(std::make_unique<EverythingMatcher>(segment_.size()));
    return std::make_unique<AllMatcher>(std::move(must), std::move(should), std::move(must_not));
  }

  LengthNorm norm_;
  const TextSegment& segment_;
};

}  // namespace

std::unique_ptr<Matcher> make_matcher(const Plan& plan, LengthNorm norm,
                                      const TextSegment& segment) {
  return MatcherMaker(norm, segment).make(plan);
}

std::unique_ptr<Matcher> restrict_matcher(std::unique_ptr<Matcher> matcher,
                                          std::vector<std::uint32_t> ordinals) {
  // The list comes first: it is short, and its moves spare the matcher most of its own.
  std::vector<ListMatcher::Entry> entries;
  for (const std::uint32_t ordinal : ordinals) entries.push_back({ordinal, 0});
  std::vector<std::unique_ptr<Matcher>> both;
  both.push_back(std::make_unique<ListMatcher>(std::move(entries)));
  both.push_back(std::move(matcher));
  return std::make_unique<AllMatcher>(std::move(both), nullptr, nullptr);
}

}  // namespace kin::index
