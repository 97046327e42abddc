#include "app/judged_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/file.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

namespace fs = std::filesystem;

template <typename Visit>
Status each_line(const fs::path& path, const Visit& visit) {
  KIN_TRY(const std::string text, read_file(path));
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    if (end > at) {
      const Status visited = visit(std::string_view(text).substr(at, end - at));
      if (!visited.ok())
        return with_context(fmt::format("{}:{}", path.string(), number), visited.error());
    }
    at = end + 1;
  }
  return Done{};
}

Status read_answer(std::string_view line, bool first_line, Judgements& judgements) {
  const std::size_t first = line.find('\t');
  const std::size_t second = line.find('\t', std::min(first, line.size() - 1) + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    return Error{Code::kInvalidArgument,
                 "a judgement is a query, a document and a grade, with tabs between"};
  double grade = 0;
  const auto [end, problem] =
      std::from_chars(line.data() + second + 1, line.data() + line.size(), grade);
  if (problem != std::errc()) {
    if (first_line) return Done{};  // headings
    return Error{Code::kInvalidArgument, "the grade of a judgement is a number"};
  }
  // A grade of 0 means that the document is not relevant.
  if (grade > 0)
    judgements[std::string(line.substr(0, first))]
              [std::string(line.substr(first + 1, second - first - 1))] = grade;
  return Done{};
}

}  // namespace

Result<std::vector<JudgedQuery>> read_queries(const fs::path& path) {
  std::vector<JudgedQuery> queries;
  KIN_RETURN_IF_ERROR(each_line(path, [&](std::string_view line) -> Status {
    KIN_TRY(const data::JsonValue value, data::parse_json(line));
    // Some collections number their queries.
    std::string id(value["id"].text());
    if (const double* number = value["id"].number()) id = fmt::format("{}", *number);
    if (id.empty() || value["text"].string() == nullptr)
      return Error{Code::kInvalidArgument, "a query needs an \"id\" and a \"text\""};
    queries.push_back({.id = std::move(id), .text = std::string(value["text"].text())});
    return Done{};
  }));
  return queries;
}

Result<Judgements> read_judgements(const fs::path& path) {
  Judgements judgements;
  bool first_line = true;
  KIN_RETURN_IF_ERROR(each_line(path, [&](std::string_view line) {
    return read_answer(line, std::exchange(first_line, false), judgements);
  }));
  return judgements;
}

RankingQuality judge(const std::vector<std::string>& hits,
                     const std::map<std::string, double>& answers) {
  RankingQuality quality;
  double found = 0;
  double gain = 0;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const auto answer = answers.find(hits[i]);
    if (answer == answers.end()) continue;
    ++found;
    const auto rank = static_cast<double>(i + 1);
    // Precision at each answer; answers that were not found count as 0.
    quality.average_precision += found / rank;
    if (i < 10) gain += answer->second / std::log2(rank + 1);
    if (i < 100) quality.recall_100 = found;
  }
  std::vector<double> grades;
  for (const auto& [id, grade] : answers) grades.push_back(grade);
  std::ranges::sort(grades, std::ranges::greater());
  double ideal = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(10, grades.size()); ++i)
    ideal += grades[i] / std::log2(static_cast<double>(i) + 2);
  const auto all = static_cast<double>(std::max<std::size_t>(1, answers.size()));
  quality.ndcg_10 = ideal > 0 ? gain / ideal : 0;
  quality.average_precision /= all;
  quality.recall_100 /= all;
  return quality;
}

}  // namespace kin::app
