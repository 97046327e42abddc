#include "store/seen/manifest.h"

#include <fmt/format.h>

#include <array>

#include "base/bytes.h"

namespace kin::store {
namespace {

// magic u64, version u32, kind u32, seed, next number, first log, durable log, durable bytes, runs
// (u64 each); per run: number, into, growing, from high and low, ids, digest, pieces (u64 each);
// per piece: number, ids, pages, digest, first high and low, last high and low (u64 each); checksum
// u64.
constexpr std::uint64_t kMagic = 0x314e414d4e45534bULL;  // "KSENMAN1"
constexpr std::uint32_t kVersion = 1;

// The numbers of a manifest after its kind, const or not, for reading and writing.
template <typename Manifest>
auto head_of(Manifest& manifest) {
  return std::array{&manifest.seed, &manifest.next_number, &manifest.first_log,
                    &manifest.durable_log, &manifest.durable_bytes};
}

void append_all(std::string& out, const auto& numbers) {
  for (const std::uint64_t* number : numbers) append_le(out, *number);
}

void read_all(ByteReader& reader, const auto& numbers) {
  for (std::uint64_t* number : numbers) *number = reader.read<std::uint64_t>();
}

Error damaged(std::string_view what) {
  return Error{Code::kDataLoss, std::string(what)};
}

void append_run(std::string& out, const RunInfo& run) {
  append_all(out, std::array{&run.number, &run.into});
  append_le(out, std::uint64_t{run.growing});
  append_all(out, std::array{&run.from.high, &run.from.low, &run.ids, &run.digest});
  append_le(out, std::uint64_t{run.pieces.size()});
  for (const PieceInfo& piece : run.pieces) append_all(out, numbers_of(piece));
}

RunInfo read_run(ByteReader& reader, bool& sound) {
  RunInfo run;
  read_all(reader, std::array{&run.number, &run.into});
  const auto growing = reader.read<std::uint64_t>();
  run.growing = growing == 1;
  // A flag has one encoding, so that equal manifests have equal bytes.
  sound = sound && growing <= 1;
  read_all(reader, std::array{&run.from.high, &run.from.low, &run.ids, &run.digest});
  const auto pieces = reader.read<std::uint64_t>();
  // A forged count stops at the end of the bytes.
  for (std::uint64_t i = 0; i < pieces && reader.ok(); ++i)
    read_all(reader, numbers_of(run.pieces.emplace_back()));
  return run;
}

bool is_kind(std::uint32_t value) {
  return value == static_cast<std::uint32_t>(IdKind::kNumber) ||
         value == static_cast<std::uint32_t>(IdKind::kText) ||
         value == static_cast<std::uint32_t>(kPairs);
}

}  // namespace

std::uint64_t ids_in_runs(const SeenManifest& manifest) {
  std::uint64_t ids = 0;
  // An input still counts the ids that have moved to the output, so the output does not.
  for (const RunInfo& run : manifest.runs) ids += run.growing ? 0 : run.ids;
  return ids;
}

std::set<std::uint64_t> piece_numbers(const SeenManifest& manifest) {
  std::set<std::uint64_t> numbers;
  for (const RunInfo& run : manifest.runs) {
    for (const PieceInfo& piece : run.pieces) numbers.insert(piece.number);
  }
  return numbers;
}

std::string encode(const SeenManifest& manifest) {
  std::string out;
  append_le(out, kMagic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint32_t>(manifest.kind));
  append_all(out, head_of(manifest));
  append_le(out, std::uint64_t{manifest.runs.size()});
  for (const RunInfo& run : manifest.runs) append_run(out, run);
  append_le(out, checksum(out));
  return out;
}

Result<SeenManifest> decode_seen_manifest(std::string_view bytes) {
  if (bytes.size() < sizeof(std::uint64_t)) return damaged("it is too short");
  const auto body = checked_body(bytes);
  if (!body) return damaged("its checksum is wrong");
  ByteReader reader(*body);
  if (reader.read<std::uint64_t>() != kMagic) return damaged("it is not a manifest");
  const auto version = reader.read<std::uint32_t>();
  if (version != kVersion) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("it is of version {}, and this program knows version {} (use the "
                             "program that made it, or a newer one)",
                             version, kVersion)};
  }
  const auto kind = reader.read<std::uint32_t>();
  if (!is_kind(kind)) return damaged("it has an unknown kind of ids");
  SeenManifest manifest;
  manifest.kind = static_cast<IdKind>(kind);
  read_all(reader, head_of(manifest));
  const auto runs = reader.read<std::uint64_t>();
  bool sound = true;
  for (std::uint64_t i = 0; i < runs && reader.ok(); ++i) {
    manifest.runs.push_back(read_run(reader, sound));
  }
  // The checksum is right, so the program that wrote it is at fault, or it is a forgery.
  if (!sound || !reader.ok() || !reader.rest().empty()) return damaged("its parts do not add up");
  return manifest;
}

}  // namespace kin::store
