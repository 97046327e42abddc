// The part of a shard in the newest move of a partition, as it is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "router/requests.h"

namespace kin::router {

struct MoveRow {
  enum class State : std::uint8_t {
    kClearing,   // the target removes what it held of the partition before
    kReceiving,  // the target takes records
    kSending,    // the source keeps its log
    kOver,       // nothing is left to do
  };
  std::uint64_t id = 0;  // of the move
  State state = State::kOver;
  MoveProgress progress = {};  // of a target; `ready` follows from the state and is not stored
  friend bool operator==(const MoveRow&, const MoveRow&) = default;
};

// The bytes of docs/formats.md, "A node: the directory".
std::string encode(const MoveRow& row);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<MoveRow> decode_move_row(std::string_view bytes);

}  // namespace kin::router
