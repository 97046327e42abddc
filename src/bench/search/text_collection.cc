#include "bench/search/text_collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "data/json_value.h"
#include "search/document_files.h"
#include "text/tokens.h"

namespace kin::bench {

namespace fs = std::filesystem;

Result<TextCollection> read_collection(const fs::path& folder) {
  TextCollection collection;
  KIN_TRY(const bool named_docs, file_exists(folder / "docs.jsonl"));
  const fs::path documents = folder / (named_docs ? "docs.jsonl" : "corpus.jsonl");
  search::FilesProgress progress;
  KIN_RETURN_IF_ERROR(search::read_documents(
      {.files = {documents.string()}}, progress, [&](std::span<const search::Document> batch) {
        collection.documents.insert(collection.documents.end(), batch.begin(), batch.end());
        return Status(Done{});
      }));
  KIN_TRY(collection.queries, app::read_queries(folder / "queries.jsonl"));
  KIN_TRY(collection.answers, app::read_judgements(folder / "qrels.tsv"));
  return collection;
}

Result<std::vector<search::Document>> read_articles(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (files.empty())
    return Error{Code::kNotFound, fmt::format("{} has no .json files", folder.string())};
  std::ranges::sort(files);
  std::vector<search::Document> articles;
  for (const fs::path& file : files) {
    KIN_TRY(const std::string text, read_file(file));
    KIN_TRY(const data::JsonValue value, data::parse_json(text));
    for (const data::JsonValue& article : value.items()) {
      if (article["body"].text().empty()) continue;
      articles.push_back({.id = std::to_string(articles.size()),
                          .title = std::string(article["title"].text()),
                          .text = std::string(article["body"].text())});
    }
  }
  return articles;
}

std::vector<std::vector<std::string>> title_queries(const std::vector<search::Document>& documents,
                                                    int count) {
  Random random(21578);
  std::vector<std::vector<std::string>> queries;
  std::vector<text::Token> tokens;
  // Titles may be too short, and perhaps all of them are.
  for (int tries = 0; std::ssize(queries) < count && tries < 100 * count; ++tries) {
    const std::string& title = documents[random.below(documents.size())].title;
    text::split_tokens(title, tokens);
    std::set<std::string> words;
    for (std::size_t i = 0; i < tokens.size() && words.size() < 3 + random.below(2); ++i) {
      const text::Token& token = tokens[random.below(tokens.size())];
      if (token.end - token.begin < 3) continue;
      std::string word;
      text::fold_word(std::string_view(title).substr(token.begin, token.end - token.begin), word);
      words.insert(word);
    }
    if (words.size() >= 3) queries.emplace_back(words.begin(), words.end());
  }
  return queries;
}

}  // namespace kin::bench
