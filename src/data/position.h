// The place in its inputs that a scan has reached.
#pragma once

#include <cstdint>

namespace kin::data {

// A place between two records from which a scan can continue, in another process too. The default
// is the start. All numbers count from 0.
struct Position {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;  // in the decompressed bytes of the file
  std::uint64_t line = 0;    // lines of the file before it
  std::uint64_t row = 0;     // records of all files before it
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace kin::data
