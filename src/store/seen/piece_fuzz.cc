// Whatever the files of a piece contain: a look-up is right or refused, and the filter of another
// piece is not accepted.
#include <cstdlib>

#include "base/bytes.h"
#include "base/testing/simulated_disk.h"
#include "store/seen/piece.h"

namespace {

using namespace kin::store;

constexpr std::uint64_t kIds = 1500;

SeenId id_at(std::uint64_t i, IdKind kind) {
  return {(i + 1) << 40, kind == IdKind::kNumber ? 0 : i};
}

void change(kin::SimulatedDisk& disk, const std::filesystem::path& path, kin::ByteReader& reader) {
  std::string file = *kin::read_whole(disk, path);
  for (int i = 0; i < 4 && reader.rest().size() >= 5; ++i) {
    const auto place = reader.read<std::uint32_t>();
    file[place % file.size()] = static_cast<char>(reader.read<std::uint8_t>());
  }
  if (reader.read<std::uint8_t>() % 16 == 1)
    file.resize(reader.read<std::uint16_t>() % file.size());
  disk.replace(path, file);
}

void look_up(const Piece& piece, IdKind kind) {
  SeenPageBytes page;
  const auto filter = piece.open_filter();
  const auto loaded = filter ? filter->load() : filter.error();
  for (std::uint64_t i = 0; i < kIds; i += 13) {
    const SeenId id = id_at(i, kind);
    const auto there = piece.contains(id, page);
    if (there && !*there) std::abort();
    if (loaded && !(*loaded)->may_contain(in_filter(id, kind))) std::abort();
    std::vector<std::uint32_t> numbers;
    const bool read = piece.append_numbers({id.high, 0}, page, numbers).ok();
    const std::vector expected = {static_cast<std::uint32_t>(id.low)};
    if (read && numbers != expected) std::abort();
    const auto absent = piece.contains({id.high + 1, id.low}, page);
    if (absent && *absent) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kin::ByteReader reader({reinterpret_cast<const char*>(data), size});
  const auto kind = IdKind(1 + reader.read<std::uint8_t>() % 3);
  kin::SimulatedDisk disk;
  const SeenPlacement placement{&disk, "d", kind};
  if (!disk.make_folder("d").ok()) std::abort();
  auto writer = PieceWriter::create(placement, {.number = 1, .ids = kIds});
  if (!writer) std::abort();
  for (std::uint64_t i = 0; i < kIds; ++i) {
    const SeenId id = id_at(i, kind);
    if (!(*writer)->add({&id, 1}).ok()) std::abort();
  }
  const auto finished = (*writer)->finish();
  if (!finished) std::abort();
  change(disk, piece_path("d", 1), reader);
  change(disk, filter_path("d", 1), reader);
  const auto piece = Piece::open(placement, finished->info);
  if (piece) look_up(**piece, kind);
  return 0;
}
