// Searches a view of a shard, and prepares answers for display.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "index/view.h"
#include "search/answer.h"
#include "search/asking.h"
#include "search/question.h"
#include "search/search_index.h"

namespace kin::search {

// As find() of search/asking.h, on one shard. Thread-safe, as all functions here.
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
Result<Document> with_links(const index::ShardView& view, const index::StoredEntity& entity,
                            std::optional<index::Millis> as_of);

Result<Neighbours> neighbours(const index::ShardView& view, const NeighboursQuestion& question);

}  // namespace kin::search
