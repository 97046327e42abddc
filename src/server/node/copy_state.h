// What a node knows of its copy of a shard: a file beside the copy's rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "router/shipped_log.h"

namespace kin::server {

// The folder of all copies, below the data folder of a node. A node without leases refuses a data
// folder that has it.
inline constexpr const char* kCopiesName = ".copies";

struct CopyState {
  enum class Role : std::uint8_t {
    kMade = 1,     // the shard was made here, and has no log yet
    kMissing = 2,  // there are no rows, or worthless ones: they are restored from the log
    kCopy = 3,     // the rows are those of the log up to a position
    kOwner = 4     // the rows are those of the owner, as it left them
  };
  Role role = Role::kMissing;
  std::uint64_t holder = 0;  // router::LeaseHolder::holder; drawn when the copy is made
  bool made_here = false;    // by a request to make a shard of the index
  // kOwner: the object of the log after which the rows were closed in order; nothing if they may
  // have more than the log.
  std::optional<router::LogPosition> clean = {};
  friend bool operator==(const CopyState&, const CopyState&) = default;
};

// The bytes of docs/formats.md, "A node: copies of shards".
std::string encode(const CopyState& state);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<CopyState> decode_copy_state(std::string_view bytes);

// The state of the copy in `folder`; nothing if there is no copy.
Result<std::optional<CopyState>> read_copy_state(const std::filesystem::path& folder);
// Durable when it returns. Makes the folder if it is missing.
Status write_copy_state(const std::filesystem::path& folder, const CopyState& state);
// From then on the folder has no copy.
Status remove_copy_state(const std::filesystem::path& folder);

}  // namespace kin::server
