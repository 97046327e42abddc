#include "router/meta/row_format.h"

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::router {
namespace {

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
  const auto body = checked_body(bytes);
  if (!body || body->empty()) return Error{Code::kDataLoss, "a row of the meta store is damaged"};
  if (static_cast<std::uint8_t>(body->front()) != kVersion)
    return Error{Code::kFailedPrecondition,
                 "the meta store has a version that this program does not read"};
  ByteReader in(body->substr(1));
  MetaRow row{.revision = in.read<std::uint64_t>()};
  const auto kept = in.read<std::uint8_t>();
  if (!in.ok() || kept > 1 || (kept == 0 && !in.rest().empty()))
    return Error{Code::kDataLoss, "a row of the meta store is damaged"};
  if (kept == 1) row.bytes = std::string(in.rest());
  return row;
}

}  // namespace kin::router
