#include "kv/shipped_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/sized_text.h"
#include "kv/log/format.h"

namespace kin::kv {
namespace {

constexpr std::uint8_t kVersion = 1;

Error damaged() {
  return {Code::kDataLoss, "a shipped batch is damaged"};
}

// A batch as it was made: the names of families, and changes that name them by number.
struct Shipped {
  std::vector<std::string> families = {};
  std::string_view changes;
};

Result<Shipped> decode(std::string_view bytes) {
  const auto body = checked_body(bytes);
  if (!body) return damaged();
  ByteReader in(*body);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kVersion)
    return Error{Code::kFailedPrecondition,
                 fmt::format("a shipped batch has version {}, and this program reads version {} "
                             "(use the program that wrote it)",
                             version, kVersion)};
  Shipped shipped;
  const auto count = in.read<std::uint8_t>();
  for (std::uint8_t i = 0; i < count && in.ok(); ++i) shipped.families.push_back(read_sized(in));
  if (!in.ok()) return damaged();
  shipped.changes = in.rest();
  return shipped;
}

ShippedChange::Kind kind_of(LogChange::Kind kind) {
  switch (kind) {
    case LogChange::Kind::kPut: return ShippedChange::Kind::kPut;
    case LogChange::Kind::kRemove: return ShippedChange::Kind::kRemove;
    case LogChange::Kind::kRemoveRange: return ShippedChange::Kind::kRemoveRange;
  }
  KIN_UNREACHABLE();
}

}  // namespace

std::string encode_shipped(std::span<const std::string> families, std::string_view changes) {
  KIN_CHECK(families.size() <= 0xff, "a store has few families");
  std::string bytes(1, static_cast<char>(kVersion));
  bytes += static_cast<char>(families.size());
  for (const std::string& name : families) append_sized(bytes, name);
  bytes += changes;
  append_le(bytes, checksum(bytes));
  return bytes;
}

Status visit_shipped(std::string_view bytes, const VisitShipped& visit) {
  KIN_TRY(const Shipped shipped, decode(bytes));
  Status visited = Done{};
  const auto pass_on = [&](const LogChange& change) {
    if (!visited.ok()) return;
    visited = visit({.kind = kind_of(change.kind),
                     .family = shipped.families[change.family],
                     .key = change.key,
                     .value = change.value});
  };
  if (!visit_changes(shipped.changes, shipped.families.size(), pass_on).ok()) return damaged();
  return visited;
}

Status add_shipped(std::string_view bytes, const KeyValueStore& store, Batch& batch) {
  return visit_shipped(bytes, [&](const ShippedChange& change) -> Status {
    const std::optional<Family> family = store.family_of(change.family);
    if (!family)
      return Error{Code::kFailedPrecondition,
                   fmt::format("a shipped batch has a family \"{}\", which the store does not have",
                               change.family)};
    switch (change.kind) {
      case ShippedChange::Kind::kPut: batch.put(change.key, change.value, *family); break;
      case ShippedChange::Kind::kRemove: batch.remove(change.key, *family); break;
      case ShippedChange::Kind::kRemoveRange:
        batch.remove_range(change.key, change.value, *family);
        break;
    }
    return Done{};
  });
}

}  // namespace kin::kv
