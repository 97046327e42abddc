// The rows of a local MetaStore (docs/formats.md, "A router: the meta store").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::router {

struct MetaRow {
  std::uint64_t revision = 0;
  std::optional<std::string> bytes = {};  // nothing: the key was removed
  friend bool operator==(const MetaRow&, const MetaRow&) = default;
};

std::string encode(const MetaRow& row);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<MetaRow> decode_meta_row(std::string_view bytes);

}  // namespace kin::router
