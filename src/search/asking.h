// Asks a question of a collection of documents: one shard, or many behind a router.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder_spec.h"
#include "index/present.h"
#include "index/query.h"
#include "search/answer.h"
#include "search/question.h"

namespace kin::search {

struct SearchSettings {
  index::TextOptions text = {};
  double alpha = 0.3;  // weight of the vector leg, unless a question says otherwise
  const Clock* clock = &system_clock();  // says what is valid now, and how long an answer took
};

// The weight of an embedder's vectors beside words, tuned on judged collections.
double alpha_for(embed::EmbedderKind kind);

struct SearchedSpace {
  std::string name = {};
  std::uint32_t dimension = 0;
  std::shared_ptr<const index::VectorSource> source = {};  // null: queries bring their vector
};

// How the hits of a search will be shown. Documents on other machines are shown by the calls that
// find them.
struct Showing {
  // Marked in snippets, except common words. Nothing: there are no snippets.
  std::optional<index::TextLeg> marks = {};
  bool explain = false;  // the scores of its words
};

// The documents that are searched. All methods are as those of index/query.h. Thread-safe.
class Searched {
 public:
  virtual ~Searched() = default;
  virtual bool has_spaces() const = 0;
  // An empty name means the first space. kNotFound if there is none.
  virtual Result<SearchedSpace> space(const std::string& name) const = 0;
  // Whether each of the documents exists.
  virtual Result<std::vector<bool>> exist(std::span<const DocId> ids) const = 0;
  // `showing` is null if the hits are not shown.
  virtual Result<index::ShardHits> search(const index::ShardQuery& query,
                                          const Showing* showing) const = 0;
  virtual Result<index::ShardHits> run(std::span<const index::Stage> stages,
                                       const Showing* showing) const = 0;
};

// The result of a search, before presentation.
struct Found {
  index::ShardHits hits = {};
  index::TextQuery words = {};  // the words that were searched for
  index::TextQuery marks = {};  // the words to mark in the hits
  bool by_words = false;        // they were searched for: scores are explained by them
  std::string mode = {};        // how it was searched
  const index::TextStatistics* statistics = nullptr;  // that it was searched with; null: the view's
};

// Makes the question's vector, if it needs one, and searches. Thread-safe, as all functions here.
Result<Found> find(const Searched& searched, const SearchSettings& settings,
                   const Question& question);

// The words of a question as a leg of a query.
index::TextLeg text_leg(const Question& question);

// Why a hit has its score; null without words.
AnswerReason reason_of(std::span<const index::LegScore> legs, const index::TextExplanation* words);

// The parts of a snippet, for an answer.
MarkedText marked(const index::HitSnippet& snippet);
inline constexpr std::size_t kSnippetBytes = 240;

}  // namespace kin::search
