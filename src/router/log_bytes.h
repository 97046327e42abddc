// Fields that the formats of shipped logs share.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "router/shipped_log.h"

namespace kin::router {

inline void append_hash(std::string& out, const Hash128& hash) {
  append_le(out, hash.low);
  append_le(out, hash.high);
}
inline Hash128 read_hash(ByteReader& in) {
  Hash128 hash{.low = in.read<std::uint64_t>()};
  hash.high = in.read<std::uint64_t>();
  return hash;
}

inline void append_position(std::string& out, const LogPosition& position) {
  append_le(out, position.term);
  append_le(out, position.number);
}
inline LogPosition read_position(ByteReader& in) {
  LogPosition position{.term = in.read<std::uint64_t>()};
  position.number = in.read<std::uint64_t>();
  return position;
}

// Milliseconds since 1970.
inline void append_time(std::string& out, WallTime time) {
  append_le(out, static_cast<std::int64_t>(time.time_since_epoch().count()));
}
inline WallTime read_time(ByteReader& in) {
  return WallTime{std::chrono::milliseconds{in.read<std::int64_t>()}};
}

}  // namespace kin::router
