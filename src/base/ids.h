// Ids as distinct types, so that one kind is never passed for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kin {

// A record of one run: its row, counted from 0 over all inputs in order. Dense.
enum class RecordId : std::uint32_t {};

// No record. Also the most records a run can hold.
inline constexpr RecordId kNoRecord{std::numeric_limits<std::uint32_t>::max()};

constexpr RecordId record_id(std::size_t row) {
  return RecordId{static_cast<std::uint32_t>(row)};
}
constexpr std::size_t row_number(RecordId id) {
  return static_cast<std::size_t>(id);
}

}  // namespace kin
