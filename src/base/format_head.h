// The beginning and the end of small formats on disk: a magic, a version, the fields, a checksum.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace kin {

struct FormatHead {
  std::string_view name;        // for messages: "the lease of a shard"
  std::string_view magic = {};  // the first bytes; rows of a table need none

  // kDataLoss.
  Error damaged() const;
  // kFailedPrecondition.
  Error unknown_version(std::uint32_t version) const;
};

// What is between the head and the checksum, and the version of the head.
template <std::unsigned_integral Version>
struct FormatFields {
  Version version;
  ByteReader in;
};

// Checks the checksum of 8 bytes at the end of `bytes`, the magic, and that the version behind the
// magic is one of `known`.
template <std::unsigned_integral Version>
Result<FormatFields<Version>> read_format(const FormatHead& head,
                                          std::initializer_list<Version> known,
                                          std::string_view bytes) {
  const auto body = checked_body(bytes);
  if (!body || !body->starts_with(head.magic)) return head.damaged();
  ByteReader in(body->substr(head.magic.size()));
  const auto version = in.read<Version>();
  if (!in.ok()) return head.damaged();
  if (std::ranges::find(known, version) == known.end()) return head.unknown_version(version);
  return FormatFields<Version>{.version = version, .in = in};
}

}  // namespace kin
