// The part of a shard in its newest repartition, as it is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "router/requests.h"

namespace kin::router {

struct RepartitionRow {
  enum class State : std::uint8_t {
    kOpened,    // requests about one member are answered about all
    kDividing,  // entities get other members
    kDivided,   // they do not any more
    kOver,      // nothing is left to do
  };
  std::uint64_t id = 0;  // of the repartition
  State state = State::kOver;
  Partitions members = {};
  Hash128 centroids = {};
  // Dividing goes on in this member, after this document.
  index::PartitionId at{};
  std::optional<index::DocNumber> after = {};
  Divided progress = {};  // `done` follows from the state and is not stored
  friend bool operator==(const RepartitionRow&, const RepartitionRow&) = default;
};

// The bytes of docs/formats.md, "A node: the directory".
std::string encode(const RepartitionRow& row);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<RepartitionRow> decode_repartition_row(std::string_view bytes);

}  // namespace kin::router
