// What people ask of an index.
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
  kBest,    // kHybrid where there are vectors to search by, else kText
  kText,    // by words
  kVector,  // by meaning
  kHybrid,  // by both
  kGraph,   // by links: what is within reach of some documents
};
std::string_view name_of(Mode mode);
Result<Mode> mode_named(std::string_view name);

// Use Question. A template, so that `pipeline` is first made where a stage, which has a question,
// is complete: before that a vector of stages has no constructor to call.
template <typename Stage>
struct QuestionOf {
  Mode mode = Mode::kBest;
  std::string text = {};               // in the language of index/text_query.h; kGraph: an id
  bool plain = false;                  // any of the words of the text, whatever else is in it
  std::vector<float> vector = {};      // instead of what the embedder makes of the text
  std::string space = {};              // of the vectors; empty: the main one
  std::vector<std::string> from = {};  // kGraph: ids to begin at
  std::size_t k = 10;
  std::size_t offset = 0;
  index::Scope scope = {};
  int fuzzy = 0;
  std::optional<double> alpha = {};  // nothing: what suits the index's vectors
  index::Fusion fusion = index::Fusion::kAlpha;
  index::Expansion expand = {};
  std::vector<std::string> facets = {};
  bool count = true;
  bool explain = false;
  bool exact = false;
  bool show = true;                  // with snippets
  std::vector<Stage> pipeline = {};  // instead of all of the above but `explain`
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

// A Question of docs/api.md. kInvalidArgument names the field that makes no sense or is not known.
// Thread-safe.
Result<Question> question_of(const data::JsonValue& json);

}  // namespace kin::search
