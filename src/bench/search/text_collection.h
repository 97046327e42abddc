// Text collections to measure search with.
#pragma once

#include <filesystem>
#include <vector>

#include "app/judged_queries.h"
#include "base/result.h"
#include "search/document.h"

namespace kin::bench {

struct TextCollection {
  std::vector<search::Document> documents;
  std::vector<app::JudgedQuery> queries;
  app::Judgements answers;
};

// Reads a folder with docs.jsonl or corpus.jsonl (id, title, text), queries.jsonl (id, text) and
// qrels.tsv (query, document, grade).
Result<TextCollection> read_collection(const std::filesystem::path& folder);

// Reads the articles of Reuters-21578 that have a body, from all .json files of the folder in order
// of name.
Result<std::vector<search::Document>> read_articles(const std::filesystem::path& folder);

// Queries of three or four words of a title each; fewer than `count` if titles are short.
std::vector<std::vector<std::string>> title_queries(const std::vector<search::Document>& documents,
                                                    int count);

}  // namespace kin::bench
