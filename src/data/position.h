// Where a scan stands.
#pragma once

#include <cstdint>

namespace kin::data {

// A place between two records from which a scan can go on later, in another process too. Plain
// numbers; a default one is the start. All of them count from 0.
struct Position {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;  // in the file, as it is before it was compressed
  std::uint64_t line = 0;    // lines of the file that lie before
  std::uint64_t row = 0;     // records of all files that lie before
  friend bool operator==(const Position&, const Position&) = default;
};

}  // namespace kin::data
