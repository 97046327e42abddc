#include "store/seen/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace kin::store {
namespace {

// magic u64, version u32, kind u32, seed, next number, first log, durable log, durable bytes, runs
// (u64 each); per run: number, into, growing, from high and low, ids, digest, pieces (u64 each);
// per piece: number, ids, pages, digest, first high and low, last high and low (u64 each); checksum
// u64.
constexpr std::uint64_t kMagic = 0x314e414d4e45534bULL;  // "KSENMAN1"
constexpr std::uint32_t kVersion = 1;

Error damaged(std::string_view what) {
  return Error{Code::kDataLoss, std::string(what)};
}

void append_id(std::string& out, SeenId id) {
  append_le(out, id.high);
  append_le(out, id.low);
}

SeenId read_id(ByteReader& reader) {
  SeenId id;
  id.high = reader.read<std::uint64_t>();
  id.low = reader.read<std::uint64_t>();
  return id;
}

void append_piece(std::string& out, const PieceInfo& piece) {
  for (const std::uint64_t value : {piece.number, piece.ids, piece.pages, piece.digest}) {
    append_le(out, value);
  }
  append_id(out, piece.first);
  append_id(out, piece.last);
}

PieceInfo read_piece(ByteReader& reader) {
  PieceInfo piece;
  piece.number = reader.read<std::uint64_t>();
  piece.ids = reader.read<std::uint64_t>();
  piece.pages = reader.read<std::uint64_t>();
  piece.digest = reader.read<std::uint64_t>();
  piece.first = read_id(reader);
  piece.last = read_id(reader);
  return piece;
}

void append_run(std::string& out, const RunInfo& run) {
  append_le(out, run.number);
  append_le(out, run.into);
  append_le(out, std::uint64_t{run.growing});
  append_id(out, run.from);
  append_le(out, run.ids);
  append_le(out, run.digest);
  append_le(out, std::uint64_t{run.pieces.size()});
  for (const PieceInfo& piece : run.pieces) append_piece(out, piece);
}

RunInfo read_run(ByteReader& reader, bool& sound) {
  RunInfo run;
  run.number = reader.read<std::uint64_t>();
  run.into = reader.read<std::uint64_t>();
  const auto growing = reader.read<std::uint64_t>();
  run.growing = growing == 1;
  sound = sound && growing <= 1;
  run.from = read_id(reader);
  run.ids = reader.read<std::uint64_t>();
  run.digest = reader.read<std::uint64_t>();
  const auto pieces = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < pieces && reader.ok(); ++i) {
    run.pieces.push_back(read_piece(reader));
  }
  return run;
}

bool is_kind(std::uint32_t value) {
  return value == static_cast<std::uint32_t>(IdKind::kNumber) ||
         value == static_cast<std::uint32_t>(IdKind::kText);
}

}  // namespace

std::uint64_t ids_in_runs(const SeenManifest& manifest) {
  std::uint64_t ids = 0;
  for (const RunInfo& run : manifest.runs) ids += run.growing ? 0 : run.ids;
  return ids;
}

std::string encode(const SeenManifest& manifest) {
  std::string out;
  append_le(out, kMagic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint32_t>(manifest.kind));
  for (const std::uint64_t value :
       {manifest.seed, manifest.next_number, manifest.first_log, manifest.durable_log,
        manifest.durable_bytes, std::uint64_t{manifest.runs.size()}}) {
    append_le(out, value);
  }
  for (const RunInfo& run : manifest.runs) append_run(out, run);
  append_le(out, checksum(out));
  return out;
}

Result<SeenManifest> decode_seen_manifest(std::string_view bytes) {
  constexpr std::size_t kSum = sizeof(std::uint64_t);
  if (bytes.size() < kSum) return damaged("it is too short");
  const std::string_view body = bytes.substr(0, bytes.size() - kSum);
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body)) {
    return damaged("its checksum is wrong");
  }
  ByteReader reader(body);
  if (reader.read<std::uint64_t>() != kMagic) return damaged("it is not a manifest");
  const auto version = reader.read<std::uint32_t>();
  if (version != kVersion) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("it is of version {}, and this program knows version {} (use the "
                             "program that made it, or a newer one)",
                             version, kVersion)};
  }
  const auto kind = reader.read<std::uint32_t>();
  if (!is_kind(kind)) return damaged("it holds ids of a kind that does not exist");
  SeenManifest manifest;
  manifest.kind = static_cast<IdKind>(kind);
  manifest.seed = reader.read<std::uint64_t>();
  manifest.next_number = reader.read<std::uint64_t>();
  manifest.first_log = reader.read<std::uint64_t>();
  manifest.durable_log = reader.read<std::uint64_t>();
  manifest.durable_bytes = reader.read<std::uint64_t>();
  const auto runs = reader.read<std::uint64_t>();
  bool sound = true;
  for (std::uint64_t i = 0; i < runs && reader.ok(); ++i) {
    manifest.runs.push_back(read_run(reader, sound));
  }
  if (!sound || !reader.ok() || !reader.rest().empty()) return damaged("its parts do not add up");
  return manifest;
}

}  // namespace kin::store
