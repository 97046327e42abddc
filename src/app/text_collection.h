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

struct TextCollection {
  std::vector<CollectionDocument> documents;
  std::vector<CollectionQuery> queries;
  // By query and document: how well it answers, from 1 on.
  std::map<std::string, std::map<std::string, double>> answers;
};

// Of a folder with docs.jsonl or corpus.jsonl (id, title, text), queries.jsonl (id, text) and
// qrels.tsv (query, document, grade, under a line of headings).
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
