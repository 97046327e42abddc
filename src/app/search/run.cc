#include "app/search/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/command.h"
#include "app/judged_queries.h"
#include "app/print.h"
#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"

namespace kin::app {
namespace {

// The depth at which TREC computes MAP.
constexpr std::size_t kJudgedDepth = 1'000;

struct RunFigures {
  std::uint64_t queries = 0;
  MeanQuality quality;
  double seconds = 0;
};

std::string line_of(const std::string& id, const search::Answer& answer, std::size_t k) {
  JsonWriter json;
  json.begin_object().field("id", id).key("hits").begin_array();
  for (std::size_t i = 0; i < std::min(answer.hits.size(), k); ++i)
    json.begin_object()
        .field("id", answer.hits[i].document.id)
        .field("score", answer.hits[i].score)
        .end();
  return json.end().end().take() + "\n";
}

std::string queries_in_words(std::uint64_t count) {
  return count == 1 ? "1 query" : with_commas(count) + " queries";
}

std::string to_words(const RunFigures& figures) {
  std::string words =
      fmt::format("{} in {:.2f} s\n", queries_in_words(figures.queries), figures.seconds);
  if (figures.quality.count() == 0) return words;
  const RankingQuality mean = figures.quality.mean();
  return words + fmt::format(
                     "  nDCG@10     {:.4f}\n  MAP         {:.4f}\n  recall@100  {:.4f}\n"
                     "over {} with judgements\n",
                     mean.ndcg_10, mean.average_precision, mean.recall_100,
                     queries_in_words(figures.quality.count()));
}

std::string to_json(const RunFigures& figures) {
  const RankingQuality mean = figures.quality.mean();
  JsonWriter json;
  json.begin_object().field("queries", figures.queries).field("judged", figures.quality.count());
  json.field("ndcg_10", mean.ndcg_10).field("map", mean.average_precision);
  json.field("recall_100", mean.recall_100).field("seconds", figures.seconds);
  return json.end().take() + "\n";
}

void add(const search::Answer& answer, const std::map<std::string, double>& answers,
         RunFigures& figures) {
  std::vector<std::string> ids;
  for (const search::AnswerHit& hit : answer.hits)
    if (hit.kind == index::DocKind::kEntity) ids.push_back(hit.document.id);
  figures.quality.add(judge(ids, answers));
}

Result<RunFigures> search_all(const SearchRun& run, const Ask& ask, std::string& lines) {
  RunFigures figures;
  KIN_TRY(const std::vector<JudgedQuery> queries, read_queries(run.queries));
  Judgements judgements;
  if (!run.judgements.empty()) {
    KIN_TRY(judgements, read_judgements(run.judgements));
  }
  search::Question question = run.question;
  // Queries of test collections are not written in our query language. Counts and snippets are not
  // shown, and would add to the time.
  question.plain = true;
  question.count = false;
  question.show = false;
  if (!judgements.empty()) question.k = kJudgedDepth;
  const auto start = std::chrono::steady_clock::now();
  for (const JudgedQuery& query : queries) {
    question.text = query.text;
    auto answer = ask(question);
    if (!answer) return with_context("query " + query.id, answer.error());
    ++figures.queries;
    lines += line_of(query.id, *answer, run.question.k);
    if (const auto known = judgements.find(query.id); known != judgements.end())
      add(*answer, known->second, figures);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  figures.seconds = taken.count();
  return figures;
}

}  // namespace

Result<int> run_queries(const SearchRun& run, const Ask& ask) {
  std::string lines;
  KIN_TRY(const RunFigures figures, search_all(run, ask, lines));
  if (!run.judgements.empty() && figures.quality.count() == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: judges none of the queries of {} (a line is a query's id, a "
                             "document's id and a grade, with tabs between)",
                             run.judgements, run.queries)};
  if (!run.output.empty() && run.output != "-") {
    KIN_RETURN_IF_ERROR(write_file_atomically(run.output, lines));
  } else if (run.output == "-" || run.judgements.empty()) {
    KIN_RETURN_IF_ERROR(print(lines));
    say(to_words(figures));
    return kDone;
  }
  return print_result(run.json ? to_json(figures) : to_words(figures));
}

}  // namespace kin::app
