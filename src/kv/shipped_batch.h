// A committed batch as bytes, for copies of a store on other machines.
//
//   StoreOptions options{.observer = [&](std::string bytes) { queue.push(std::move(bytes)); }};
//   ...
//   Batch batch(copy);
//   KIN_RETURN_IF_ERROR(add_shipped(bytes, copy, batch));
//   KIN_RETURN_IF_ERROR(copy.write(batch));
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kv/key_value_store.h"

namespace kin::kv {

// A change of a batch. The views live as long as the bytes of the batch.
struct ShippedChange {
  enum class Kind : std::uint8_t { kPut = 1, kRemove = 2, kRemoveRange = 3 };
  Kind kind = Kind::kPut;
  std::string_view family;  // its name; the main family is "default"
  std::string_view key;     // of a range: its first key
  std::string_view value;   // of a range: the end, which is not in it; empty for kRemove
  friend bool operator==(const ShippedChange&, const ShippedChange&) = default;
};

// Passes the changes of a batch to `visit`, in order; stops at its first error. kDataLoss for bytes
// that no store made, kFailedPrecondition for an unknown version.
using VisitShipped = std::function<Status(const ShippedChange&)>;
Status visit_shipped(std::string_view bytes, const VisitShipped& visit);

// Adds the changes of a batch to `batch` of `store`, after those that it has. Applying batches of
// another store in their order makes equal contents, also if some are applied again, as long as all
// later ones follow. kFailedPrecondition if the store does not have a family of the batch.
Status add_shipped(std::string_view bytes, const KeyValueStore& store, Batch& batch);

// The bytes of a batch (docs/formats.md, "A shipped batch"): the names of the store's families, and
// changes as in the log of a small store.
std::string encode_shipped(std::span<const std::string> families, std::string_view changes);

}  // namespace kin::kv
