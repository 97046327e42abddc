#include "index/text/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/text/matcher.h"
#include "index/text/top.h"
#include "index/text/windows.h"

namespace kin::index {
namespace {

constexpr std::array<std::string_view, 3> kValidities{"valid", "expired", "future"};

// Counts over all segments. The ordinal of a key differs between segments, so values are summed by
// key.
struct FacetTally {
  std::vector<bool> wanted;  // by facet
  bool validity = false;
  std::map<std::string, std::uint64_t> values;  // by key
  std::array<std::uint64_t, 3> validities{};
};

// Searches one segment after another.
class Searcher final : public DocVisitor {
 public:
  // The plan is one for these segments of the state.
  Searcher(const TextView::State& state, const std::vector<const LiveSegment*>& segments,
           const TextSearch& search, const PlannedQuery& plan, FacetTally& facets)
      : state_(state),
        segments_(segments),
        search_(search),
        plan_(plan),
        facets_(facets),
        top_(search.k),
        visits_all_(search.count || !search.facets.empty() || search.exhaustive) {}

  void run() {
    for (place_ = 0; place_ < segments_.size(); ++place_) {
      segment_ = segments_[place_];
      // Within a segment counts are by ordinal, which is much cheaper than by key.
      facet_counts_.assign(facets_.wanted.empty() ? 0 : segment_->text().facet_terms(), 0);
      run_segment();
      collect_facets();
    }
  }

  // Collects matches without scoring them.
  DocSet run_matching() {
    DocSet all;
    for (place_ = 0; place_ < segments_.size(); ++place_) {
      segment_ = segments_[place_];
      matching_.clear();
      const auto matcher = restricted_matcher();
      for (std::uint32_t doc = matcher->seek(0); doc != kNoDoc; doc = matcher->seek(doc + 1)) {
        if (accepts(doc)) matching_.push_back(segment_->text().docs().numbers[doc]);
      }
      all.add(matching_);
    }
    return all;
  }

  std::vector<ScoredDoc> take() { return top_.take(); }
  std::uint64_t count() const { return count_; }

  // Counting needs every match; otherwise matches that score too little are skipped.
  Score least() const override { return visits_all_ ? 0 : top_.least(); }

  void visit(std::uint32_t ordinal, Score score) override {
    if (!accepts(ordinal)) return;
    const SegmentDocs& docs = segment_->text().docs();
    top_.add({.score = score, .number = docs.numbers[ordinal], .kind = docs.kinds[ordinal]});
    ++count_;
    if (!facet_counts_.empty()) {
      for (const std::uint32_t value : segment_->text().facet_values(ordinal))
        ++facet_counts_[value];
    }
    if (facets_.validity) ++facets_.validities[validity(ordinal)];
  }

 private:
  bool accepts(std::uint32_t ordinal) const {
    const SegmentDocs& docs = segment_->text().docs();
    // Documents deleted after this view's moment are still visible in it.
    if (!segment_->live_at(ordinal, state_.moment)) return false;
    if ((search_.kinds & kind_bit(docs.kinds[ordinal])) == 0) return false;
    if (search_.valid_at && (docs.valid_from[ordinal] > *search_.valid_at ||
                             docs.valid_until[ordinal] <= *search_.valid_at))
      return false;
    return search_.filter == nullptr || search_.filter->contains(docs.numbers[ordinal]);
  }

  std::size_t validity(std::uint32_t ordinal) const {
    const SegmentDocs& docs = segment_->text().docs();
    if (docs.valid_from[ordinal] > search_.validity_at) return 2;
    return docs.valid_until[ordinal] <= search_.validity_at ? 1 : 0;
  }

  void run_segment() {
    const Plan& root = plan_.root;
    const bool plain =
        root.kind == Plan::Kind::kTerms && !root.field && root.terms.size() <= kMostSummed;
    // The fast path: any of some terms, where no small filter decides.
    if (plain && !selective())
      return visit_any(root.terms, plan_.norm, {segment_->text(), place_}, *this);
    match(*restricted_matcher());
  }

  bool selective() const {
    // Below this share of the segment it is cheaper to start from the documents of the filter.
    constexpr std::uint64_t kSelective = 64;
    return search_.filter != nullptr &&
           search_.filter->size() < segment_->text().size() / kSelective;
  }

  std::unique_ptr<Matcher> restricted_matcher() const {
    auto matcher = make_matcher(plan_.root, plan_.norm, segment_->text());
    if (!selective()) return matcher;
    return restrict_matcher(std::move(matcher), filtered_ordinals());
  }

  std::vector<std::uint32_t> filtered_ordinals() const {
    std::vector<std::uint32_t> ordinals;
    for (const std::uint32_t number : search_.filter->numbers()) {
      if (const auto ordinal = segment_->text().ordinal(number)) ordinals.push_back(*ordinal);
    }
    return ordinals;
  }

  void match(Matcher& matcher) {
    std::uint32_t target = 0;
    while (true) {
      if (const Score needed = least(); needed > 0) {
        // Skip stretches whose bound is below the score needed.
        ScoreBound bound = matcher.bound(target);
        while (bound.most < needed && bound.last < kNoDoc - 1) {
          target = bound.last + 1;
          bound = matcher.bound(target);
        }
        if (bound.most < needed) return;
      }
      const std::uint32_t doc = matcher.seek(target);
      if (doc == kNoDoc) return;
      visit(doc, matcher.score());
      target = doc + 1;
    }
  }

  void collect_facets() {
    if (facet_counts_.empty()) return;
    // The keys of facets come first in the dictionary, so their ordinals index the counts.
    TextSegment::Terms terms(segment_->text());
    for (bool more = terms.seek(""); more && terms.ordinal() < facet_counts_.size();
         more = terms.next()) {
      const std::uint64_t count = facet_counts_[terms.ordinal()];
      if (count > 0 && facets_.wanted[facet_of_key(terms.key()).facet])
        facets_.values[terms.key()] += count;
    }
  }

  const TextView::State& state_;
  const std::vector<const LiveSegment*>& segments_;
  const TextSearch& search_;
  const PlannedQuery& plan_;
  FacetTally& facets_;
  TopDocs top_;
  bool visits_all_;
  const LiveSegment* segment_ = nullptr;
  std::size_t place_ = 0;
  std::vector<std::uint64_t> facet_counts_;
  std::vector<std::uint32_t> matching_;
  std::uint64_t count_ = 0;
};

Result<FacetTally> tally_for(const TextSearch& search, const TextOptions& options) {
  FacetTally tally;
  for (const std::string& name : search.facets) {
    if (name == kValidity) {
      tally.validity = true;
      continue;
    }
    const auto found = std::ranges::find(options.facets, name);
    if (found == options.facets.end())
      return Error{Code::kInvalidArgument,
                   fmt::format("there is no facet \"{}\" (there are {}, {})", name,
                               fmt::join(options.facets, ", "), kValidity)};
    tally.wanted.resize(16, false);  // as many as an index may have
    tally.wanted[static_cast<std::size_t>(found - options.facets.begin())] = true;
  }
  return tally;
}

FacetCounts counts_of(std::size_t facet, const std::string& name, const FacetTally& tally) {
  FacetCounts counts{.name = name, .values = {}};
  for (const auto& [key, count] : tally.values) {
    const FacetOfKey found = facet_of_key(key);
    if (found.facet == facet) counts.values.push_back({std::string(found.value), count});
  }
  // Stable: equal counts stay in the order of keys.
  std::ranges::stable_sort(counts.values, std::ranges::greater(), &FacetCount::count);
  return counts;
}

std::vector<FacetCounts> facet_counts(const TextSearch& search, const TextOptions& options,
                                      const FacetTally& tally) {
  std::vector<FacetCounts> all;
  for (const std::string& name : search.facets) {
    if (name != kValidity) {
      const auto found = std::ranges::find(options.facets, name);
      all.push_back(
          counts_of(static_cast<std::size_t>(found - options.facets.begin()), name, tally));
      continue;
    }
    all.push_back({.name = name, .values = {}});
    for (std::size_t i = 0; i < kValidities.size(); ++i)
      all.back().values.push_back({std::string(kValidities[i]), tally.validities[i]});
  }
  return all;
}

}  // namespace

LiveSegment::LiveSegment(std::uint64_t id, std::shared_ptr<const TextSegment> segment,
                         TextSection section)
    : id_(id),
      segment_(std::move(segment)),
      deleted_at_(std::make_unique<std::atomic<std::uint64_t>[]>(segment_->size())),
      section_(section) {
  for (std::uint32_t i = 0; i < segment_->size(); ++i)
    deleted_at_[i].store(kNever, std::memory_order_relaxed);
}

void LiveSegment::remove(std::uint32_t ordinal, std::uint64_t moment) {
  if (deleted_at(ordinal) != kNever) return;
  // Readers of older moments still see the document: see live_at().
  deleted_at_[ordinal].store(moment, std::memory_order_release);
  removed_.fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<TextAnalyzer> AnalyzerPool::borrow() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto analyzer = std::move(idle_.back());
      idle_.pop_back();
      return analyzer;
    }
  }
  auto made = TextAnalyzer::create(language_);
  KIN_CHECK(made.ok(), "the language was checked with the options");
  return std::move(made).value();
}

void AnalyzerPool::give_back(std::unique_ptr<TextAnalyzer> analyzer) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(analyzer));
}

TextView::Segments TextView::without(const TextSections& hidden) const {
  Segments segments;
  for (const auto& segment : state_->segments) {
    if (!hidden.contains(segment->section())) segments.push_back(segment.get());
  }
  return segments;
}

PlannedQuery TextView::plan(const TextQuery& query, const Segments& searched,
                            const TextStatistics* given) const {
  std::vector<const TextSegment*> segments;
  for (const LiveSegment* segment : searched) segments.push_back(&segment->text());
  // Planning is the only part of a search that needs an analyzer.
  auto analyzer = state_->analyzers->borrow();
  PlannedQuery planned = plan_query(
      query, {.options = state_->options.get(), .segments = segments, .given = given}, *analyzer);
  state_->analyzers->give_back(std::move(analyzer));
  return planned;
}

Result<TextHits> TextView::search(const TextQuery& query, const TextSearch& search) const {
  KIN_TRY(FacetTally tally, tally_for(search, *state_->options));
  const Segments segments = without(search.hidden);
  const PlannedQuery planned = plan(query, segments, search.statistics);
  Searcher searcher(*state_, segments, search, planned, tally);
  searcher.run();
  TextHits result;
  // Scores are whole numbers until here, so that the order of sums does not matter.
  for (const ScoredDoc& doc : searcher.take())
    result.hits.push_back({.number = doc.number, .kind = doc.kind, .score = as_number(doc.score)});
  if (search.count) result.count = searcher.count();
  result.facets = facet_counts(search, *state_->options, tally);
  return result;
}

DocSet TextView::matching(const TextQuery& query, const TextSearch& search) const {
  const Segments segments = without(search.hidden);
  const PlannedQuery planned = plan(query, segments, nullptr);
  FacetTally none;
  return Searcher(*state_, segments, search, planned, none).run_matching();
}

std::vector<std::string> TextView::facet_values(std::string_view facet) const {
  const auto& facets = state_->options->facets;
  const auto place = std::ranges::find(facets, facet);
  if (place == facets.end()) return {};
  const std::string prefix = facet_prefix(static_cast<std::size_t>(place - facets.begin()), "");
  std::set<std::string> keys;
  for (const auto& segment : state_->segments)
    segment->text().each_term(prefix, [&](const auto& terms) { keys.insert(terms.key()); });
  std::vector<std::string> values;
  for (const std::string& key : keys) values.emplace_back(facet_of_key(key).value);
  return values;
}

std::optional<TextExplanation> TextView::explain(const TextQuery& query, std::uint32_t number,
                                                 const TextSearch& search) const {
  const Segments segments = without(search.hidden);
  const PlannedQuery planned = plan(query, segments, search.statistics);
  for (const LiveSegment* segment : segments) {
    const auto ordinal = segment->text().ordinal(number);
    // A number is live in one segment at most.
    if (!ordinal || !segment->live_at(*ordinal, state_->moment)) continue;
    const auto matcher = make_matcher(planned.root, planned.norm, segment->text());
    if (matcher->seek(*ordinal) != *ordinal) return std::nullopt;
    std::vector<TermShare> shares;
    matcher->explain(shares);
    const auto total = static_cast<double>(planned.used.total_length);
    TextExplanation result{
        .score = as_number(matcher->score()),
        .length = segment->text().docs().lengths[*ordinal] / 4.0,
        .average_length = total / 4 / static_cast<double>(planned.used.documents),
        .terms = {}};
    for (const TermShare& share : shares) {
      result.terms.push_back({.term = share.term->key.substr(1),
                              .score = as_number(share.score),
                              .frequency = share.occurrences,
                              .documents = share.term->frequency,
                              .inverse_frequency = share.term->inverse_frequency});
    }
    return result;
  }
  return std::nullopt;
}

TextStatistics TextView::statistics(const TextQuery& query, const TextSections& hidden) const {
  return plan(query, without(hidden), nullptr).used;
}

std::uint64_t TextView::statistics_state(const TextSections& hidden) const {
  // Deleted documents count until their segment goes, so the segments are all that matters.
  std::string ids;
  for (const LiveSegment* segment : without(hidden)) append_le(ids, segment->id());
  return hash64(ids);
}

std::vector<std::uint32_t> TextView::numbers() const {
  std::vector<std::uint32_t> all;
  for (const auto& segment : state_->segments) {
    const auto& numbers = segment->text().docs().numbers;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      if (segment->live_at(i, state_->moment)) all.push_back(numbers[i]);
    }
  }
  std::ranges::sort(all);
  return all;
}

std::uint64_t TextView::documents() const {
  std::uint64_t count = 0;
  for (const auto& segment : state_->segments) {
    for (std::uint32_t i = 0; i < segment->text().size(); ++i)
      count += segment->live_at(i, state_->moment) ? 1 : 0;
  }
  return count;
}

std::uint64_t TextView::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& segment : state_->segments) bytes += segment->text().bytes().size();
  return bytes;
}

}  // namespace kin::index
