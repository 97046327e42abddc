// How the indexes of a shard see a document of the truth.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "index/shard.h"
#include "index/truth/view.h"

namespace kin::index {

// Indexes of the facets in text_options().
inline constexpr std::size_t kTypeFacet = 0;
inline constexpr std::size_t kTagFacet = 1;
inline constexpr std::size_t kSourceFacet = 2;
inline constexpr std::size_t kAttributeFacet = 3;
// A longer value of an attribute is stored but is not a facet.
inline constexpr std::size_t kMostFacetBytes = 256;

// All functions here are thread-safe.
std::uint32_t number_of(const StoredDocument& document);

// An entity: title, text with its summaries, tags; facets type, tag, source, attribute
// ("year=1994", "open=true"). An edge: its summary as text, its name as attribute "name=cites";
// valid while it holds. A fragment: its text, valid from when it was said.
TextDocument text_document(const StoredDocument& document);

// Visits every document in the order of numbers. `last` is true for the last page, which may be
// empty.
using SeePage = std::function<Status(const std::vector<StoredDocument>& page, bool last)>;
Status each_page(const TruthView& view, const Want& want, const SeePage& see);

// The vectors of documents in one space. Nothing for a document that is not an entity, has no
// vector, or has one that does not fit the space.
Result<std::vector<std::optional<std::vector<float>>>> vectors_of(
    const SpaceOptions& space, std::span<const StoredDocument> documents);

// kInvalidArgument for options that contradict each other.
Status check_space_options(const SpaceOptions& space);

// Hash of the options of a space. A checkpoint with another hash is discarded.
std::uint64_t options_hash(const SpaceOptions& space);

}  // namespace kin::index
