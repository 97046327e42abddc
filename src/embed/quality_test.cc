// How well each embedder alone finds relevant documents, on the collection
// tests/collections/topics. Half of the relevant documents share no word with their query.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "base/file.h"
#include "base/testing/source_folder.h"
#include "data/json_value.h"
#include "embed/corpus_model.h"
#include "embed/files/model2vec.h"
#include "embed/files/word_vectors.h"

namespace kin::embed {
namespace {

namespace fs = std::filesystem;

struct Texts {
  std::vector<std::string> ids;
  std::vector<std::string> texts;
};

struct Collection {
  Texts documents;
  Texts queries;
  std::map<std::string, std::map<std::string, int>> relevant;
};

Texts read_texts(const fs::path& file) {
  Texts out;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const data::JsonValue value = data::parse_json(line).value();
    out.ids.emplace_back(value["id"].text());
    const std::string title(value["title"].text());
    out.texts.push_back((title.empty() ? "" : title + " ") + std::string(value["text"].text()));
  }
  return out;
}

Collection read_collection() {
  const fs::path folder = fs::path(source_folder()) / "tests/collections/topics";
  Collection out{read_texts(folder / "docs.jsonl"), read_texts(folder / "queries.jsonl"), {}};
  std::ifstream lines(folder / "qrels.tsv");
  std::string line;
  std::getline(lines, line);
  std::string query;
  std::string document;
  for (int grade = 0; lines >> query >> document >> grade;)
    if (grade > 0) out.relevant[query][document] = grade;
  return out;
}

std::vector<std::vector<float>> embed_all(const Embedder& embedder, const Texts& texts) {
  const std::vector<std::string_view> views(texts.texts.begin(), texts.texts.end());
  return embedder.embed(views).value();
}

constexpr std::size_t kDepth = 20;  // as many as answer each query

// The numbers of the kDepth documents nearest to a query.
std::vector<std::size_t> nearest(const std::vector<std::vector<float>>& documents,
                                 const std::vector<float>& query) {
  std::vector<std::pair<float, std::size_t>> found;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (documents[i].empty() || query.empty()) continue;
    float sum = 0;
    for (std::size_t j = 0; j < query.size(); ++j) sum += query[j] * documents[i][j];
    found.emplace_back(-sum, i);
  }
  const std::size_t depth = std::min(kDepth, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(depth), found.end());
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < depth; ++i) out.push_back(found[i].second);
  return out;
}

double gain(std::size_t rank) {
  return 1 / std::log2(static_cast<double>(rank) + 2);
}

double ndcg(const Collection& collection, const Embedder& embedder) {
  const auto documents = embed_all(embedder, collection.documents);
  const auto queries = embed_all(embedder, collection.queries);
  double sum = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto judged = collection.relevant.find(collection.queries.ids[i]);
    if (judged == collection.relevant.end()) continue;
    double got = 0;
    double best = 0;
    const auto found = nearest(documents, queries[i]);
    for (std::size_t rank = 0; rank < found.size(); ++rank)
      got += judged->second.contains(collection.documents.ids[found[rank]]) ? gain(rank) : 0;
    for (std::size_t rank = 0; rank < std::min(kDepth, judged->second.size()); ++rank)
      best += gain(rank);
    sum += got / best;
  }
  return sum / static_cast<double>(collection.relevant.size());
}

class EmbedQualityTest : public ::testing::Test {
 protected:
  void expect(const Embedder& embedder, double least) const {
    const double measured = ndcg(collection_, embedder);
    RecordProperty("ndcg_20", std::to_string(measured));
    EXPECT_GE(measured, least);
  }

  const Collection collection_ = read_collection();
};

TEST_F(EmbedQualityTest, CorpusVectorsFindWhatIsRelevant) {
  CorpusSample sample = CorpusSample::create().value();
  for (const std::string& text : collection_.documents.texts) sample.add(text);
  expect(*train_corpus_model(sample).value(), 0.78);
}

TEST_F(EmbedQualityTest, WordVectorsFindWhatIsRelevant) {
  expect(*open_word_vectors(fs::path(source_folder()) / ".deps/models/words.kwv").value(), 0.83);
}

// A real model is too large to ship with the project.
TEST_F(EmbedQualityTest, Model2VecFindsWhatIsRelevant) {
  const char* const folder = std::getenv("KINDRED_MODEL2VEC");
  if (folder == nullptr) GTEST_SKIP() << "$KINDRED_MODEL2VEC names no folder with a model";
  expect(*open_model2vec(folder).value(), 0.83);
}

}  // namespace
}  // namespace kin::embed
