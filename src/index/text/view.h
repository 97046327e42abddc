// A reader's view of the text index: its state at one moment.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text/analyzer.h"
#include "index/text/plan.h"
#include "index/text/query.h"
#include "index/text/segment.h"
#include "index/text_document.h"
#include "index/truth/doc_set.h"

namespace kin::index {

using TextSections = std::set<TextSection>;

struct TextSearch {
  std::size_t k = 10;
  const DocSet* filter = nullptr;              // document numbers; nothing: all
  std::uint8_t kinds = kAllKinds;              // see kind_bit()
  std::optional<std::int64_t> valid_at{};      // only documents valid then
  bool count = false;                          // how many match, exactly
  std::vector<std::string> facets{};           // names whose values are counted; also kValidity
  std::int64_t validity_at = 0;                // the moment that kValidity refers to
  const TextStatistics* statistics = nullptr;  // of all shards, instead of this index's own
  TextSections hidden{};                         // their segments are left out
  bool exhaustive = false;                     // score every match; finds the same hits
};

struct TextHit {
  std::uint32_t number = 0;
  DocKind kind = DocKind::kEntity;
  double score = 0;
};

// A facet of every document beside those of the options: valid, expired, future, in this order.
inline constexpr std::string_view kValidity = "validity";

struct FacetCount {
  std::string value{};
  std::uint64_t count = 0;
};

struct FacetCounts {
  std::string name{};
  std::vector<FacetCount> values{};  // most frequent first
};

struct TextHits {
  std::vector<TextHit> hits{};  // best first; of equal scores the lower number first
  std::optional<std::uint64_t> count{};
  std::vector<FacetCounts> facets{};
};

struct TermExplanation {
  std::string term{};           // the stem, or the word itself if that was searched for
  double score = 0;             // of this term
  std::uint32_t frequency = 0;  // occurrences in the document, whatever the weight of their field
  std::uint64_t documents = 0;  // that have it
  double inverse_frequency = 0;
};

struct TextExplanation {
  double score = 0;   // of the hit
  double length = 0;  // of the document in words, weighted by fields
  double average_length = 0;
  std::vector<TermExplanation> terms{};  // not all if a pattern stands for very many
};

// A segment, and when each of its documents was deleted. Thread-safe for one writer.
class LiveSegment {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  LiveSegment(std::uint64_t id, std::shared_ptr<const TextSegment> segment,
              TextSection section = kNoSection);

  std::uint64_t id() const { return id_; }
  // The section of all its documents, which may have ended since; kNoSection: they are of none.
  TextSection section() const { return section_.load(std::memory_order_relaxed); }
  // Every document that is not deleted belongs to the section, and the segment to none.
  void join(TextSection section) { section_.store(section, std::memory_order_relaxed); }
  const TextSegment& text() const { return *segment_; }
  const std::shared_ptr<const TextSegment>& shared_text() const { return segment_; }
  bool live_at(std::uint32_t ordinal, std::uint64_t moment) const {
    return deleted_at_[ordinal].load(std::memory_order_acquire) > moment;
  }
  std::uint64_t deleted_at(std::uint32_t ordinal) const {
    return deleted_at_[ordinal].load(std::memory_order_acquire);
  }
  void remove(std::uint32_t ordinal, std::uint64_t moment);
  std::uint32_t removed() const { return removed_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t id_;
  std::shared_ptr<const TextSegment> segment_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> deleted_at_;
  std::atomic<std::uint32_t> removed_{0};
  std::atomic<TextSection> section_;
};

// Lends analyzers to searches. Thread-safe.
class AnalyzerPool {
 public:
  explicit AnalyzerPool(std::string language) : language_(std::move(language)) {}
  std::unique_ptr<TextAnalyzer> borrow();
  void give_back(std::unique_ptr<TextAnalyzer> analyzer);

 private:
  std::string language_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TextAnalyzer>> idle_;
};

// Never changes, and holds whole documents only, whatever is written meanwhile. Thread-safe.
class TextView {
 public:
  struct State {
    std::shared_ptr<const TextOptions> options{};
    std::shared_ptr<AnalyzerPool> analyzers{};
    std::vector<std::shared_ptr<LiveSegment>> segments{};
    TextSections sections{};  // that have not ended
    std::uint64_t moment = 0;
    std::uint64_t applied = 0;  // the LSN of the last change in it
  };

  explicit TextView(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // kInvalidArgument if a facet is not one of the index.
  Result<TextHits> search(const TextQuery& query, const TextSearch& search = {}) const;

  // The numbers of all documents that match, within the restrictions of `search`.
  DocSet matching(const TextQuery& query, const TextSearch& search = {}) const;

  // The values of a facet as they were written, in the order of their folded forms, including those
  // of documents deleted a short while ago. Empty if there is no such facet.
  std::vector<std::string> facet_values(std::string_view facet) const;

  // Explains the score of a document; nothing if it does not match or does not exist.
  std::optional<TextExplanation> explain(const TextQuery& query, std::uint32_t number,
                                         const TextSearch& search = {}) const;

  // This index's part of the statistics that a query needs: the
  // number of documents, their lengths, and the frequency of every
  // term of the query. Recently deleted documents still count, those
  // of hidden sections do not.
  TextStatistics statistics(const TextQuery& query, const TextSections& hidden = {}) const;
  // Views of one open index with equal numbers have equal statistics, whatever the query.
  std::uint64_t statistics_state(const TextSections& hidden = {}) const;

  std::vector<std::uint32_t> numbers() const;  // of all documents, in order
  std::uint64_t documents() const;
  std::uint64_t bytes() const;
  std::size_t segments() const { return state_->segments.size(); }
  std::uint64_t applied() const { return state_->applied; }
  const TextOptions& options() const { return *state_->options; }

 private:
  using Segments = std::vector<const LiveSegment*>;
  Segments without(const TextSections& hidden) const;
  PlannedQuery plan(const TextQuery& query, const Segments& segments,
                    const TextStatistics* given) const;

  std::shared_ptr<const State> state_;
};

}  // namespace kin::index
