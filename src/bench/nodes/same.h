// Answers over several nodes against those of one index.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct SameBench {
  std::vector<std::filesystem::path> collections = {};  // see read_collection()
  std::optional<std::filesystem::path> articles = {};   // see read_articles()
  std::optional<std::filesystem::path> model = {};      // model2vec; none: no hybrid questions
  std::optional<std::filesystem::path> vectors = {};    // a folder with glove100.f32
  std::uint64_t nodes = 4;
  std::uint64_t queries = 1'000;  // of articles and vectors
  std::uint64_t most_vectors = 400'000;
  double recall = 0.95;                           // that vector searches ask for
  std::optional<std::filesystem::path> folder{};  // none: the system's temporary folder
};

struct SameFigures {
  SameBench bench = {};
  // By words; by words and vectors; by words, with neighbours of hits; by links alone.
  enum class Form : std::uint8_t { kText, kHybrid, kExpanded, kGraph };
  struct Answers {
    Form form = Form::kText;
    std::uint64_t questions = 0;
    std::uint64_t same = 0;  // whole answers: hits, scores, snippets, count and facets
    std::string first_difference = {};
  };
  struct Texts {
    std::string set = {};
    std::uint64_t documents = 0;
    std::vector<Answers> answers = {};
  };
  std::vector<Texts> texts = {};
  // Shards of this process. Recall@10 is measured against exact search.
  struct Vectors {
    std::uint64_t vectors = 0;
    double one = 0;      // recall of one shard
    double many = 0;     // of all, through the router
    double all = 0;      // the same, if no shard is passed over
    double visited = 0;  // share of the shards that were asked
    double skew = 0;     // vectors of the largest shard, as a multiple of the mean
  };
  std::optional<Vectors> vectors = {};
};

Result<SameFigures> bench_same(const SameBench& bench);

std::string to_json(const SameFigures& figures);
std::string to_table(const SameFigures& figures);

}  // namespace kin::bench
