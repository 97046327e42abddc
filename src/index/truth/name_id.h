// Names of sources, edges, attributes and embedding spaces are stored as numbers.
#pragma once

#include <cstdint>

namespace kin::index {

enum class NameId : std::uint32_t {};  // dense, in the order of first use

}  // namespace kin::index
