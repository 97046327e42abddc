// Searches a view of a shard, and prepares answers for display.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder_spec.h"
#include "index/query.h"
#include "index/text_leg.h"
#include "index/view.h"
#include "search/answer.h"
#include "search/question.h"
#include "search/search_index.h"

namespace kin::search {

struct SearchSettings {
  index::TextOptions text = {};
  double alpha = 0.3;  // weight of the vector leg, unless a question says otherwise
  const Clock* clock = &system_clock();  // says what is valid now, and how long an answer took
};

// The weight of an embedder's vectors beside words, tuned on judged collections.
double alpha_for(embed::EmbedderKind kind);

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
Result<Found> find(const index::ShardView& view, const SearchSettings& settings,
                   const Question& question);

// Adds texts and explanations from `view` to the result. `view` may be later than the one that was
// searched: documents that it lacks are left out.
Result<Answer> present(const index::ShardView& view, const Found& found, const Question& question);

// Finds, presents and measures the time.
Result<Answer> answer(const index::ShardView& view, const SearchSettings& settings,
                      const Question& question);

// The id that a document was added with; the UUID of `id` if the document does not exist. doc_id()
// of either is `id`.
std::string key_of(const index::ShardView& view, const DocId& id);

// The document of an entity with its links and fragments; only those of `as_of`, if it is given.
Result<Document> with_links(const index::ShardView& view, const index::Entity& entity,
                            std::optional<index::Millis> as_of);

Result<Neighbours> neighbours(const index::ShardView& view, const NeighboursQuestion& question);

}  // namespace kin::search
