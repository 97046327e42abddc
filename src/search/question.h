// A search question, from the command line or a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/json_value.h"
#include "index/query.h"

namespace kin::search {

enum class Mode : std::uint8_t {
  kBest,    // kHybrid if the index has vectors and the text has words, else kText
  kText,    // by words
  kVector,  // by meaning
  kHybrid,  // by both
  kGraph,   // by links: documents within reach of given ones
};
std::string_view name_of(Mode mode);
Result<Mode> mode_named(std::string_view name);
// "out", "in", "both".
Result<index::Direction> direction_named(std::string_view name);

// Use Question. This is a template because a stage contains a question and a question contains
// stages: `pipeline` is instantiated when both are complete.
template <typename Stage>
struct QuestionOf {
  Mode mode = Mode::kBest;
  std::string text = {};               // in the language of index/text_query.h; kGraph: an id
  bool plain = false;                  // take the text as words, without the query language
  std::vector<float> vector = {};      // used instead of the embedded text
  std::string space = {};              // space of the vectors; empty: the main one
  std::vector<std::string> from = {};  // kGraph: ids of the documents to start from
  std::size_t k = 10;
  std::size_t offset = 0;
  index::Scope scope = {};
  int fuzzy = 0;
  std::optional<double> alpha = {};  // weight of vectors; nothing: the default of the embedder
  index::Fusion fusion = index::Fusion::kAlpha;
  index::Expansion expand = {};
  std::vector<std::string> facets = {};
  bool count = true;
  bool explain = false;
  bool exact = false;
  double recall = index::VectorLeg{}.recall;  // share of the nearest vectors that must be found
  bool show = true;                  // make snippets
  std::vector<Stage> pipeline = {};  // used instead of all other fields but `explain`
};

struct StageQuestion;
using Question = QuestionOf<StageQuestion>;

struct StageQuestion {
  enum class Kind : std::uint8_t { kFind, kExpand, kFilter, kLimit };
  Kind kind = Kind::kFind;
  Question find = {};
  double keep = 0;
  index::Expansion expand = {};
  index::Scope filter = {};
  std::size_t limit = 10;
};

inline constexpr std::size_t kMostHits = 1'000;

// Reads a Question of docs/api.md. kInvalidArgument names the field that is wrong or unknown.
// Thread-safe.
Result<Question> question_of(const data::JsonValue& json);
// The JSON that question_of() reads. Thread-safe.
std::string to_json(const Question& question);

}  // namespace kin::search
