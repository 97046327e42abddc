// How well each embedder alone finds what is relevant, on real collections: $KINDRED_COLLECTIONS is
// a folder with scifact/ (corpus.jsonl) and cacm/ (docs.jsonl), each with queries.jsonl and
// qrels.tsv.
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

Collection read_collection(const fs::path& folder, const char* documents) {
  Collection out{read_texts(folder / documents), read_texts(folder / "queries.jsonl"), {}};
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

constexpr std::size_t kDepth = 10;

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
  void SetUp() override {
    const char* const folder = std::getenv("KINDRED_COLLECTIONS");
    if (folder == nullptr) GTEST_SKIP() << "KINDRED_COLLECTIONS names no folder of collections";
    scifact_ = read_collection(fs::path(folder) / "scifact", "corpus.jsonl");
    cacm_ = read_collection(fs::path(folder) / "cacm", "docs.jsonl");
    folder_ = folder;
  }

  void expect(const char* name, double measured, double least) {
    RecordProperty(name, std::to_string(measured));
    std::printf("%s nDCG@10 %.4f\n", name, measured);
    EXPECT_GE(measured, least) << name;
  }
  static std::shared_ptr<const CorpusModel> train(const Collection& collection) {
    CorpusSample sample = CorpusSample::create().value();
    for (const std::string& text : collection.documents.texts) sample.add(text);
    return train_corpus_model(sample).value();
  }

  Collection scifact_;
  Collection cacm_;
  fs::path folder_;
};

TEST_F(EmbedQualityTest, CorpusVectorsFindWhatIsRelevant) {
  expect("scifact", ndcg(scifact_, *train(scifact_)), 0.54);
  expect("cacm", ndcg(cacm_, *train(cacm_)), 0.38);
}

TEST_F(EmbedQualityTest, WordVectorsFindWhatIsRelevant) {
  const fs::path file = fs::path(source_folder()) / ".deps/models/words.kwv";
  if (!fs::exists(file)) GTEST_SKIP() << file << " is not there: run scripts/setup";
  const auto words = open_word_vectors(file).value();
  expect("scifact", ndcg(scifact_, *words), 0.30);
  expect("cacm", ndcg(cacm_, *words), 0.25);
}

TEST_F(EmbedQualityTest, Model2VecFindsWhatIsRelevant) {
  const fs::path folder = folder_ / "models/potion-base-4m-int8";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const auto model = open_model2vec(folder).value();
  expect("scifact", ndcg(scifact_, *model), 0.45);
  expect("cacm", ndcg(cacm_, *model), 0.28);
}

}  // namespace
}  // namespace kin::embed
