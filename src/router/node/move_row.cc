#include "router/node/move_row.h"

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/hash.h"
#include "base/sized_text.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the state of a move"};
constexpr std::uint8_t kVersion = 2;
constexpr std::uint8_t kWithoutCounts = 1;

}  // namespace

std::string encode(const MoveRow& row) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, row.id);
  append_le(out, row.state);
  out += static_cast<char>(row.progress.copied ? 1 : 0);
  out += static_cast<char>(row.progress.next ? 1 : 0);
  append_sized(out, row.progress.next.value_or(""));
  append_le(out, row.progress.lsn);
  append_le(out, row.progress.entities);
  append_le(out, row.progress.bytes);
  append_le(out, checksum(out));
  return out;
}

Result<MoveRow> decode_move_row(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion, kWithoutCounts}, bytes));
  ByteReader& in = fields.in;
  MoveRow row{.id = in.read<std::uint64_t>()};
  const auto state = in.read<std::uint8_t>();
  const auto copied = in.read<std::uint8_t>();
  const auto has_next = in.read<std::uint8_t>();
  std::string next = read_sized(in);
  row.progress.lsn = in.read<std::uint64_t>();
  if (fields.version == kVersion) {
    row.progress.entities = in.read<std::uint64_t>();
    row.progress.bytes = in.read<std::uint64_t>();
  }
  if (!in.ok() || !in.rest().empty() || state > static_cast<std::uint8_t>(MoveRow::State::kOver) ||
      copied > 1 || has_next > 1 || (has_next == 0 && !next.empty()))
    return kHead.damaged();
  row.state = static_cast<MoveRow::State>(state);
  row.progress.copied = copied == 1;
  if (has_next == 1) row.progress.next = std::move(next);
  return row;
}

}  // namespace kin::router
