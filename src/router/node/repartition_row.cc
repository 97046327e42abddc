#include "router/node/repartition_row.h"

#include "base/bytes.h"
#include "base/format_head.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the state of a repartition"};
constexpr std::uint8_t kVersion = 1;

}  // namespace

std::string encode(const RepartitionRow& row) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, row.id);
  append_le(out, row.state);
  append_le(out, row.centroids.low);
  append_le(out, row.centroids.high);
  append_le(out, static_cast<std::uint32_t>(row.at));
  out += static_cast<char>(row.after ? 1 : 0);
  append_le(out, static_cast<std::uint32_t>(row.after.value_or(index::DocNumber{0})));
  append_le(out, row.progress.looked);
  append_le(out, row.progress.moved);
  for (const index::PartitionId member : row.members)
    append_le(out, static_cast<std::uint32_t>(member));
  append_le(out, checksum(out));
  return out;
}

Result<RepartitionRow> decode_repartition_row(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  RepartitionRow row{.id = in.read<std::uint64_t>()};
  const auto state = in.read<std::uint8_t>();
  row.centroids.low = in.read<std::uint64_t>();
  row.centroids.high = in.read<std::uint64_t>();
  row.at = index::PartitionId{in.read<std::uint32_t>()};
  const auto has_after = in.read<std::uint8_t>();
  const index::DocNumber after{in.read<std::uint32_t>()};
  row.progress.looked = in.read<std::uint64_t>();
  row.progress.moved = in.read<std::uint64_t>();
  std::optional<std::uint32_t> last;
  while (in.ok() && !in.rest().empty()) {
    const auto member = in.read<std::uint32_t>();
    if (!in.ok() || (last && member <= *last)) return kHead.damaged();
    row.members.insert(index::PartitionId{member});
    last = member;
  }
  if (!in.ok() || state > static_cast<std::uint8_t>(RepartitionRow::State::kOver) ||
      has_after > 1 || (has_after == 0 && after != index::DocNumber{0}))
    return kHead.damaged();
  row.state = static_cast<RepartitionRow::State>(state);
  if (has_after == 1) row.after = after;
  return row;
}

}  // namespace kin::router
