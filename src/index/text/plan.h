// Turns a query into keys of terms with weights, for the segments of one view.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "index/text/analyzer.h"
#include "index/text/query.h"
#include "index/text/score.h"
#include "index/text/segment.h"
#include "index/text_document.h"

namespace kin::index {

// The collection's part in scores. The statistics of several shards add up.
struct TextStatistics {
  std::uint64_t documents = 0;
  std::uint64_t total_length = 0;  // in quarters of a word, weighted
  std::map<std::string, std::uint64_t, std::less<>> frequencies{};  // documents, by key of the term

  void add(const TextStatistics& other);
};

struct PlanTerm {
  std::string key{};
  double inverse_frequency = 0;
  float weight = 0;  // see text/score.h
  std::uint64_t frequency = 0;
  std::vector<TermPostings> found{};  // by segment, 0 documents where the term is not; or empty

  // The postings in `segment`, which is number `place` of the view.
  std::optional<TermPostings> postings(const TextSegment& segment, std::size_t place) const {
    if (found.empty()) return segment.find(key);
    return found[place].documents == 0 ? std::nullopt : std::optional(found[place]);
  }
};

struct Plan {
  enum class Kind : std::uint8_t { kNothing, kTerms, kPhrase, kFacet, kEverything, kBoolean };

  Kind kind = Kind::kNothing;
  std::vector<PlanTerm> terms{};         // any of them (kTerms, kFacet), or all in a row (kPhrase)
  std::vector<std::uint32_t> offsets{};  // kPhrase: positions of its terms, from the first
  struct Field {
    std::size_t place = 0;
    std::uint32_t quarters = 4;  // its weight
  };
  std::optional<Field> field{};  // kTerms and kPhrase: match in this field only
  std::vector<Plan> must{};
  std::vector<Plan> should{};
  std::vector<Plan> must_not{};
};

struct PlanRequest {
  const TextOptions* options = nullptr;
  std::span<const TextSegment* const> segments;
  const TextStatistics* given = nullptr;  // instead of those of the segments
};

struct PlannedQuery {
  Plan root;
  LengthNorm norm;
  TextStatistics used;  // with the frequencies of all terms of the query
};

// A term that is missing in the given statistics gets its frequency from the segments. One thread
// only, because of the analyzer.
PlannedQuery plan_query(const TextQuery& query, const PlanRequest& request, TextAnalyzer& analyzer);

}  // namespace kin::index
