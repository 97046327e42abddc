#include "base/format_head.h"

#include <fmt/format.h>

namespace kin {

Error FormatHead::damaged() const {
  return {Code::kDataLoss, fmt::format("cannot read {}: the bytes are damaged", name)};
}

Error FormatHead::unknown_version(std::uint32_t version) const {
  return {Code::kFailedPrecondition,
          fmt::format("cannot read {}: this program does not know version {} of the format (use the "
                      "program that wrote it)",
                      name, version)};
}

}  // namespace kin
