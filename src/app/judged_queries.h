// Queries with known answers, and measures of ranking quality.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::app {

struct JudgedQuery {
  std::string id;
  std::string text;
};

// Grades above 0, by query id and document id.
using Judgements = std::map<std::string, std::map<std::string, double>>;

// Reads JSONL with the fields id and text.
Result<std::vector<JudgedQuery>> read_queries(const std::filesystem::path& path);
// Reads lines of query id, document id and grade, separated by tabs. The first line may be a
// header.
Result<Judgements> read_judgements(const std::filesystem::path& path);

// Quality of one ranking, or the mean of many.
struct RankingQuality {
  double ndcg_10 = 0;
  double average_precision = 0;
  double recall_100 = 0;
};

// `hits` are document ids, best first; `answers` are the grades of one query.
RankingQuality judge(const std::vector<std::string>& hits,
                     const std::map<std::string, double>& answers);

// Sums up the quality of many rankings.
class MeanQuality {
 public:
  void add(const RankingQuality& quality) {
    ++count_;
    sum_.ndcg_10 += quality.ndcg_10;
    sum_.average_precision += quality.average_precision;
    sum_.recall_100 += quality.recall_100;
  }
  std::uint64_t count() const { return count_; }
  // All 0 if nothing was added.
  RankingQuality mean() const {
    const double count = count_ == 0 ? 1 : static_cast<double>(count_);
    return {sum_.ndcg_10 / count, sum_.average_precision / count, sum_.recall_100 / count};
  }

 private:
  RankingQuality sum_;
  std::uint64_t count_ = 0;
};

}  // namespace kin::app
