// The kinds of things that have a document number.
#pragma once

#include <cstdint>

namespace kin::index {

// Written in formats: the numbers stay.
enum class DocKind : std::uint8_t { kEntity, kEdge, kEntityFragment, kEdgeFragment };

}  // namespace kin::index
