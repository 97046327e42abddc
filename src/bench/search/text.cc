#include "bench/search/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/json_writer.h"
#include "bench/measure.h"
#include "bench/search/text_collection.h"
#include "bench/search/text_peer.h"
#include "index/text_index.h"

namespace kin::bench {
namespace {

Result<index::TextIndex> make_index(const std::vector<search::Document>& documents,
                                    const index::TextOptions& options) {
  KIN_TRY(index::TextIndex text, index::TextIndex::create(options));
  constexpr std::size_t kBatch = 1'000;
  std::uint64_t lsn = 0;
  for (std::size_t at = 0; at < documents.size(); at += kBatch) {
    index::TextChanges changes{.lsn = ++lsn};
    for (std::size_t i = at; i < std::min(documents.size(), at + kBatch); ++i)
      changes.upserts.push_back({.number = static_cast<std::uint32_t>(i),
                                 .fields = {documents[i].title, documents[i].text}});
    text.apply(std::move(changes));
  }
  text.merge_all();
  return text;
}

Result<QualityFigures> measure_quality(const std::filesystem::path& folder,
                                       const index::TextOptions& options) {
  KIN_TRY(const TextCollection collection, read_collection(folder));
  KIN_TRY(const index::TextIndex text, make_index(collection.documents, options));
  const index::TextView view = text.view();
  app::MeanQuality quality;
  for (const app::JudgedQuery& query : collection.queries) {
    const auto answers = collection.answers.find(query.id);
    if (answers == collection.answers.end()) continue;
    // MAP looks at the first 1,000 hits.
    KIN_TRY(const auto found, view.search(index::plain_query(query.text), {.k = 1'000}));
    std::vector<std::string> ids;
    for (const auto& hit : found.hits) ids.push_back(collection.documents[hit.number].id);
    quality.add(app::judge(ids, answers->second));
  }
  const app::RankingQuality mean = quality.mean();
  return QualityFigures{.collection = folder.filename().string(),
                        .documents = collection.documents.size(),
                        .queries = quality.count(),
                        .ndcg_10 = mean.ndcg_10,
                        .average_precision = mean.average_precision,
                        .recall_100 = mean.recall_100};
}

template <typename Search>
void measure_speed(const std::vector<std::vector<std::string>>& queries, int runs,
                   const Search& search, EngineFigures& figures) {
  std::vector<double> means;
  std::vector<double> tails;
  // Fills the caches.
  for (const auto& query : queries) search(query);
  for (int run = 0; run < runs; ++run) {
    std::vector<double> times;
    for (const auto& query : queries) {
      const double start = thread_seconds();
      search(query);
      times.push_back(1e6 * (thread_seconds() - start));
    }
    double sum = 0;
    for (const double time : times) sum += time;
    means.push_back(sum / static_cast<double>(times.size()));
    std::ranges::sort(times);
    tails.push_back(times[times.size() * 99 / 100]);
  }
  figures.mean_microseconds = median(means);
  figures.p99_microseconds = median(tails);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

Status measure_engines(const TextBench& bench, TextFigures& figures) {
  KIN_TRY(const auto articles, read_articles(*bench.articles));
  const auto queries = title_queries(articles, bench.queries);
  figures.articles = articles.size();
  figures.queries = queries.size();

  EngineFigures ours{.engine = "kindred"};
  double start = thread_seconds();
  KIN_TRY(const index::TextIndex text, make_index(articles, bench.options));
  ours.index_seconds = thread_seconds() - start;
  const index::TextView view = text.view();
  ours.bytes = view.bytes();
  std::vector<std::uint32_t> hits;
  const auto search = [&](const std::vector<std::string>& words) {
    hits.clear();
    const auto found = view.search(index::plain_query(joined(words)));
    for (const auto& hit : found->hits) hits.push_back(hit.number);
  };
  measure_speed(queries, bench.runs, search, ours);
  figures.engines.push_back(ours);

  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  EngineFigures theirs{.engine = "xapian"};
  start = thread_seconds();
  KIN_TRY(const auto peer, TextPeer::create(folder.path(), articles, bench.options.ranking));
  // Built without Xapian.
  if (peer == nullptr) return Done{};
  theirs.index_seconds = thread_seconds() - start;
  theirs.bytes = peer->bytes();
  std::uint64_t shared = 0;
  std::uint64_t all = 0;
  for (const auto& query : queries) {
    search(query);
    for (const std::uint32_t place : peer->search(query)) {
      ++all;
      shared += std::ranges::find(hits, place) != hits.end() ? 1 : 0;
    }
  }
  figures.agreement =
      static_cast<double>(shared) / static_cast<double>(std::max<std::uint64_t>(1, all));
  measure_speed(queries, bench.runs, [&](const auto& words) { peer->search(words); }, theirs);
  figures.engines.push_back(theirs);
  return Done{};
}

}  // namespace

Result<TextFigures> bench_text(const TextBench& bench) {
  TextFigures figures;
  for (const auto& folder : bench.collections) {
    KIN_TRY(auto quality, measure_quality(folder, bench.options));
    figures.quality.push_back(std::move(quality));
  }
  if (bench.articles) KIN_RETURN_IF_ERROR(measure_engines(bench, figures));
  return figures;
}

std::string to_json(const TextFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "text").key("quality").begin_array();
  for (const QualityFigures& one : figures.quality) {
    json.begin_object().field("collection", one.collection).field("documents", one.documents);
    json.field("queries", one.queries).field("ndcg_10", one.ndcg_10);
    json.field("map", one.average_precision).field("recall_100", one.recall_100).end();
  }
  json.end().field("articles", figures.articles).field("queries", figures.queries);
  json.key("engines").begin_array();
  for (const EngineFigures& one : figures.engines) {
    json.begin_object().field("engine", one.engine).field("index_seconds", one.index_seconds);
    json.field("bytes", one.bytes).field("mean_microseconds", one.mean_microseconds);
    json.field("p99_microseconds", one.p99_microseconds).end();
  }
  return json.end().field("agreement", figures.agreement).end().take();
}

std::string to_table(const TextFigures& figures) {
  std::string table;
  if (!figures.quality.empty())
    table += fmt::format("  {:<14}{:>10}{:>9}{:>10}{:>9}{:>12}\n", "", "documents", "queries",
                         "nDCG@10", "MAP", "recall@100");
  for (const QualityFigures& one : figures.quality)
    table +=
        fmt::format("  {:<14}{:>10}{:>9}{:>10.4f}{:>9.4f}{:>12.4f}\n", one.collection,
                    one.documents, one.queries, one.ndcg_10, one.average_precision, one.recall_100);
  if (figures.engines.empty()) return table;
  table += fmt::format(
      "\n{} articles, {} queries of 3 or 4 words, ten best of any word\n\n"
      "  {:<14}{:>10}{:>12}{:>12}{:>12}\n",
      figures.articles, figures.queries, "", "index s", "MB", "mean µs", "p99 µs");
  for (const EngineFigures& one : figures.engines)
    table += fmt::format("  {:<14}{:>10.2f}{:>12.1f}{:>12.1f}{:>12.1f}\n", one.engine,
                         one.index_seconds, static_cast<double>(one.bytes) / 1e6,
                         one.mean_microseconds, one.p99_microseconds);
  if (figures.engines.size() > 1)
    table +=
        fmt::format("\n  {:.1f} times as fast; {:.0f} % of the same hits\n",
                    figures.engines[1].mean_microseconds / figures.engines[0].mean_microseconds,
                    100 * figures.agreement);
  return table;
}

}  // namespace kin::bench
