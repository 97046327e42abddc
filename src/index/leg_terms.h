// The terms of text legs, for a caller that keeps the statistics of several shards.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/text_document.h"

namespace kin::index {

class AnalyzerPool;
struct PlannedQuery;

// Thread-safe.
class LegTerms {
 public:
  // The options are those of the shards.
  explicit LegTerms(TextOptions options);
  ~LegTerms();

  // The keys of TextStatistics::frequencies that the leg needs. Nothing if a shard has to tell: its
  // dictionary decides which words a pattern or a misspelt word stands for. The errors of
  // parse_leg().
  Result<std::optional<std::vector<std::string>>> of(const TextLeg& leg) const;

  // Whether a shard with these statistics can have a match: false if no document there has a word
  // that must be there, or any of the words of which one must be. True where only the shard can
  // tell.
  Result<bool> may_match(const TextLeg& leg, const TextStatistics& statistics) const;

 private:
  // Nothing if the dictionary of a shard is needed.
  Result<std::optional<PlannedQuery>> plan(const TextLeg& leg) const;

  TextOptions options_;
  std::unique_ptr<AnalyzerPool> analyzers_;
};

}  // namespace kin::index
