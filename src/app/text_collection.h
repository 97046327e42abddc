// Collections of documents with queries and the documents that answer them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::app {

struct CollectionDocument {
  std::string id;
  std::string title;
  std::string text;
};

struct CollectionQuery {
  std::string id;
  std::string text;
};

// By query and document: how well it answers, above 0.
using Judgements = std::map<std::string, std::map<std::string, double>>;

struct TextCollection {
  std::vector<CollectionDocument> documents;
  std::vector<CollectionQuery> queries;
  Judgements answers;
};

// JSONL with id and text.
Result<std::vector<CollectionQuery>> read_queries(const std::filesystem::path& path);
// Lines of query, document and grade, separated by tabs, maybe under a line of headings.
Result<Judgements> read_judgements(const std::filesystem::path& path);

// Of a folder with docs.jsonl or corpus.jsonl (id, title, text), queries.jsonl (id, text) and
// qrels.tsv.
Result<TextCollection> read_collection(const std::filesystem::path& folder);

// Articles of Reuters-21578 that have a body, from the JSON files of a folder in order of name.
Result<std::vector<CollectionDocument>> read_articles(const std::filesystem::path& folder);

// How good a ranking is. `hits` are ids, best first.
struct RankingQuality {
  double ndcg_10 = 0;
  double average_precision = 0;
  double recall_100 = 0;
};
RankingQuality judge(const std::vector<std::string>& hits,
                     const std::map<std::string, double>& answers);

}  // namespace kin::app
