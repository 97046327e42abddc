// What a document of the truth is to the indexes of a shard.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/shard.h"
#include "index/truth/view.h"

namespace kin::index {

// Places in the facets of text_options().
inline constexpr std::size_t kTypeFacet = 0;
inline constexpr std::size_t kTagFacet = 1;
inline constexpr std::size_t kSourceFacet = 2;
inline constexpr std::size_t kAttributeFacet = 3;
// Of an attribute; what is longer is kept, but no facet.
inline constexpr std::size_t kMostFacetBytes = 256;

// Thread-safe, like all that follows.
std::uint32_t number_of(const Document& document);

// An entity: title, text with its summaries, tags; facets type, tag, source, attribute
// ("year=1994", "open=true"). An edge: its summary as text, its name as attribute "name=cites";
// valid while it holds. A fragment: its text, valid from when it was said.
TextDocument text_document(const Document& document);

// Every document, in the order of numbers; `last` says that there is no further page, and the last
// may be empty.
using SeePage = std::function<Status(const std::vector<Document>& page, bool last)>;
Status each_page(const TruthView& view, const Want& want, const SeePage& see);

// The vectors of documents in one space; nothing for what is no entity, has none, or has one that
// does not fit the space.
Result<std::vector<std::optional<std::vector<float>>>> vectors_of(
    const SpaceOptions& space, std::span<const Document> documents);

// kInvalidArgument for a space that cannot be.
Status check_space_options(const SpaceOptions& space);

// Of the space, as a number: another one cannot use what was kept of it.
std::uint64_t fingerprint(const SpaceOptions& space);

}  // namespace kin::index
