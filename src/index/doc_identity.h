// The identity of a document across shards, as a DocNumber identifies it within one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "index/truth/doc_kind.h"
#include "index/truth/view.h"

namespace kin::index {

// Names one document of a collection that may be spread over shards: an entity, an edge with a
// summary, or a fragment. Every shard that holds the document, and every state of it, has the same
// identity; the document number differs between shards and between states.
struct DocIdentity {
  DocKind kind = DocKind::kEntity;
  DocId id = {};  // the entity; for an edge and its fragments the entity that the edge leaves
  std::string name = {};      // edges and their fragments: the name of the edge
  DocId to = {};              // edges and their fragments: the entity that the edge reaches
  Millis time = 0;            // edges: since when it holds; fragments: when it was said
  std::uint64_t content = 0;  // fragments: hash64 of the text
  friend auto operator<=>(const DocIdentity&, const DocIdentity&) = default;
};

// The documents that `numbers` stand for in the view; nothing for a number that is retired or was
// never given out. Thread-safe.
Result<std::vector<std::optional<DocIdentity>>> identify(const TruthView& view,
                                                         std::span<const DocNumber> numbers);

// The age of each document that is there, 0 for others; see ApplyOptions::ages. Thread-safe.
Result<std::vector<std::uint64_t>> read_ages(const TruthView& view,
                                             std::span<const DocIdentity> identities);

// The documents as the view has them, whichever view they were found on: nothing for a document
// that no longer exists. Entities come without vectors and summaries. Thread-safe.
Result<std::vector<std::optional<StoredDocument>>> read_documents(
    const TruthView& view, std::span<const DocIdentity> identities);

}  // namespace kin::index
