// The kinds of things that have a document number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kin::index {

// Written in formats: the numbers stay.
enum class DocKind : std::uint8_t { kEntity, kEdge, kEntityFragment, kEdgeFragment };

// As facets and answers name them.
constexpr std::string_view name_of(DocKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"entity", "edge", "entity_fragment",
                                                   "edge_fragment"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace kin::index
