// Names that recur — sources, edges, attributes, embedding spaces — are written as numbers.
#pragma once

#include <cstdint>

namespace kin::index {

enum class NameId : std::uint32_t {};  // dense, in the order of first use

}  // namespace kin::index
