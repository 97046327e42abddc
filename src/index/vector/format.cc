#include "index/vector/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/vector/kernels.h"

namespace kin::index::internal {
namespace {

constexpr std::uint64_t kHeadMagic = 0x314345564E494BULL;  // "KINVEC1"
constexpr std::uint64_t kCellMagic = 0x315056424E494BULL;  // "KINBVP1"
constexpr std::uint32_t kVersion = 1;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("a checkpoint of vectors: {}", what)};
}

// Checks checksum, magic and version; returns a reader of the bytes between them.
Result<ByteReader> opened(std::string_view bytes, std::uint64_t magic) {
  if (bytes.size() < 20) return damaged("too short");
  const std::string_view body = bytes.substr(0, bytes.size() - 8);
  ByteReader reader(body);
  if (reader.read<std::uint64_t>() != magic) return damaged("the magic number is wrong");
  if (const auto version = reader.read<std::uint32_t>(); version != kVersion)
    return damaged(fmt::format("version {} is not known", version));
  // After the version: another version may have its checksum elsewhere.
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body))
    return damaged("the checksum is wrong");
  return reader;
}

std::string begun(std::uint64_t magic) {
  std::string out;
  append_le(out, magic);
  append_le(out, kVersion);
  return out;
}

std::string closed(std::string out) {
  append_le(out, checksum(out));
  return out;
}

// Reads `count` floats; empty if there are fewer or one is not finite.
std::vector<float> read_floats(ByteReader& reader, std::size_t count) {
  std::vector<float> values = reader.read_vector<float>(count);
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    values.clear();
  return values;
}

Result<VectorSpace> read_space(ByteReader& reader) {
  VectorSpace space;
  space.dimension = reader.read<std::uint32_t>();
  space.distance = static_cast<Distance>(reader.read<std::uint8_t>());
  space.storage = static_cast<RawStorage>(reader.read<std::uint8_t>());
  space.bits = reader.read<std::uint8_t>();
  space.seed = reader.read<std::uint64_t>();
  if (!reader.ok() || !check_space(space).ok()) return damaged("its vector space is invalid");
  return space;
}

Status read_pending(ByteReader& reader, VectorCheckpointHead& head) {
  const auto count = reader.read<std::uint32_t>();
  const std::size_t size = 4 + std::size_t{head.space.dimension} * sizeof(float);
  if (!reader.ok() || reader.rest().size() != count * size)
    return damaged("its pending vectors have the wrong length");
  for (std::uint32_t i = 0; i < count; ++i) {
    Item item{reader.read<std::uint32_t>(), read_floats(reader, head.space.dimension)};
    if (item.rotated.empty()) return damaged("a pending vector has a number that is not finite");
    // The padding is not written.
    item.rotated.resize(padded_dimension(head.space.dimension), 0.0F);
    head.pending.push_back(std::move(item));
  }
  return Done{};
}

}  // namespace

std::string encode_head(const VectorCheckpointHead& head) {
  std::string out = begun(kHeadMagic);
  append_le(out, head.space.dimension);
  append_le(out, static_cast<std::uint8_t>(head.space.distance));
  append_le(out, static_cast<std::uint8_t>(head.space.storage));
  append_le(out, head.space.bits);
  append_le(out, head.space.seed);
  append_le(out, head.lsn);
  append_le(out, head.trained);
  append_le(out, static_cast<std::uint32_t>(head.curve.share.size()));
  out += as_bytes_view(std::span<const float>(head.curve.share));
  out += as_bytes_view(std::span<const float>(head.curve.reach));
  append_le(out, static_cast<std::uint32_t>(head.sums.size()));
  out += as_bytes_view(std::span<const std::uint64_t>(head.sums));
  append_le(out, static_cast<std::uint32_t>(head.pending.size()));
  for (const Item& item : head.pending) {
    append_le(out, item.id);
    out += as_bytes_view(std::span<const float>(item.rotated.data(), head.space.dimension));
  }
  return closed(std::move(out));
}

Result<VectorCheckpointHead> decode_head(std::string_view bytes) {
  KIN_TRY(ByteReader reader, opened(bytes, kHeadMagic));
  VectorCheckpointHead head;
  KIN_TRY(head.space, read_space(reader));
  head.lsn = reader.read<std::uint64_t>();
  head.trained = reader.read<std::uint64_t>();
  const auto points = reader.read<std::uint32_t>();
  // An index that was never trained has no curve.
  if (points != 0 && points != kCurvePoints)
    return damaged("its recall curve has the wrong length");
  head.curve = {read_floats(reader, points), read_floats(reader, points)};
  if (head.curve.share.size() != points || head.curve.reach.size() != points)
    return damaged("its recall curve is cut short");
  const auto cells = reader.read<std::uint32_t>();
  if (cells > CellSlot::kMostCells || reader.rest().size() / 8 < cells)
    return damaged("it has fewer cells than it says");
  head.sums = reader.read_vector<std::uint64_t>(cells);
  KIN_RETURN_IF_ERROR(read_pending(reader, head));
  return head;
}

std::string encode_cell(std::uint32_t number, std::span<const float> centre,
                        const Posting& posting) {
  std::string out = begun(kCellMagic);
  append_le(out, number);
  out += as_bytes_view(centre);
  posting.append_to(out);
  return closed(std::move(out));
}

Result<VectorCell> decode_cell(const VectorSpace& space, float error_ratio, std::uint32_t number,
                               std::string_view bytes) {
  KIN_TRY(ByteReader reader, opened(bytes, kCellMagic));
  // A piece that was stored under the wrong name would put vectors beside the wrong centroid.
  if (reader.read<std::uint32_t>() != number) return damaged("a cell has the wrong number");
  VectorCell cell;
  cell.centre = read_floats(reader, space.dimension);
  if (cell.centre.empty()) return damaged("a cell has no centroid");
  KIN_TRY(cell.posting, Posting::from_bytes(space, error_ratio, reader.rest()));
  return cell;
}

}  // namespace kin::index::internal
