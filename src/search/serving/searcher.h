// Questions put to a view of a shard, and its answers made ready to be shown.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "embed/embedder_spec.h"
#include "index/view.h"
#include "search/answer.h"
#include "search/question.h"
#include "search/search_index.h"

namespace kin::search {

struct SearchSettings {
  index::TextOptions text = {};
  double alpha = 0.3;  // of the vector leg, unless a question says otherwise
};

// How much the vectors of an embedder count beside words: as it served best on judged collections.
double alpha_for(embed::EmbedderKind kind);

Result<Answer> answer(const index::ShardView& view, const SearchSettings& settings,
                      const Question& question);

// The id of a document that was added, or the id itself, written as a UUID, if it is not there:
// doc_id() of either is the same.
std::string key_of(const index::ShardView& view, const DocId& id);

Result<Document> with_links(const index::ShardView& view, const index::Entity& entity,
                            std::optional<index::Millis> as_of);

Result<Neighbours> neighbours(const index::ShardView& view, const NeighboursQuestion& question);

}  // namespace kin::search
