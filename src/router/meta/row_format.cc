#include "router/meta/row_format.h"

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/hash.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "a row of the meta store"};
constexpr std::uint8_t kVersion = 1;

}  // namespace

std::string encode(const MetaRow& row) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, row.revision);
  out += static_cast<char>(row.bytes ? 1 : 0);
  if (row.bytes) out += *row.bytes;
  append_le(out, checksum(out));
  return out;
}

Result<MetaRow> decode_meta_row(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  MetaRow row{.revision = in.read<std::uint64_t>()};
  const auto kept = in.read<std::uint8_t>();
  if (!in.ok() || kept > 1 || (kept == 0 && !in.rest().empty()))
    return kHead.damaged();
  if (kept == 1) row.bytes = std::string(in.rest());
  return row;
}

}  // namespace kin::router
