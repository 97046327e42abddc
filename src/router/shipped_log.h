// The shipped log of a shard: its committed batches as objects that other machines read. What is in
// it survives the machine of the shard (docs/adr/0035-surviving-a-machine.md).
//
//   log/TERM/N                objects of a term, N = 1, 2, 3 ... without gaps
//   snapshot/TERM/N           manifests: the state of the shard as of that object
//   file/TERM/HASH            files of snapshots
//
// below the prefix of the shard, INDEX/IDENTITY/.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"

namespace kin::router {

// An object of the log; everything up to it was applied. {0, 0}: nothing.
struct LogPosition {
  std::uint64_t term = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

// The stores of a shard, each with batches of its own.
enum class LogStore : std::uint8_t { kTruth = 1, kDirectory = 2 };

struct LogBatch {
  LogStore store = LogStore::kTruth;
  WallTime time = {};      // of its commit; never before that of the batch before
  std::string bytes = {};  // kv/shipped_batch.h
  friend bool operator==(const LogBatch&, const LogBatch&) = default;
};

struct LogObject {
  enum class Kind : std::uint8_t {
    kBegin = 1,  // the first of a term
    kBatches = 2,
    kGap = 3,  // batches are missing here: only a snapshot that was begun later leads on
    kSeal = 4  // the last of a term
  };
  Kind kind = Kind::kBatches;
  LogPosition position = {};
  WallTime time = {};
  // Drawn by whoever writes the term, never twice: an object with it was made by that writer, also
  // if the reply to its creation was lost.
  Hash128 writer = {};
  // kBegin. The node that owns the shard in this term, by its name.
  std::string owner = {};
  // kBegin. The state at the beginning of the term is that after this object of an earlier one.
  // Nothing: only a snapshot of the new term has it, as after a gap.
  std::optional<LogPosition> base = {};
  // kSeal. The term that follows; 0: the shard was dropped. `writer` is that of the next term.
  std::uint64_t next_term = 0;
  std::vector<LogBatch> batches = {};  // kBatches
  friend bool operator==(const LogObject&, const LogObject&) = default;
};

// The bytes of docs/formats.md, "A shipped log: objects".
std::string encode(const LogObject& object);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<LogObject> decode_log_object(std::string_view bytes);

// The prefix of a shard's objects: "papers/00ff.../".
std::string log_prefix(std::string_view index, const Hash128& identity);
// Names below the prefix.
std::string log_object_name(const LogPosition& position);
std::string log_term_prefix(std::uint64_t term);
std::string snapshot_name(const LogPosition& position);
inline constexpr std::string_view kLogFolder = "log/";
inline constexpr std::string_view kSnapshotFolder = "snapshot/";
inline constexpr std::string_view kFileFolder = "file/";
// The position that the name of a log object or a manifest tells; nothing for other names.
std::optional<LogPosition> position_in(std::string_view name);

std::string identity_text(const Hash128& identity);
std::optional<Hash128> parse_identity(std::string_view text);

// A position as bytes of a row, which a copy stores with the batches that it applied.
std::string encode(const LogPosition& position);
Result<LogPosition> decode_log_position(std::string_view bytes);

}  // namespace kin::router
