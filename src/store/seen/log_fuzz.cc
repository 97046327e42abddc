// Whatever happens to a log, its decoder gives a prefix of the ids that were written, or refuses
// it.
#include <cstdlib>

#include "base/bytes.h"
#include "base/testing/simulated_disk.h"
#include "store/seen/log.h"

namespace {

using namespace kin::store;

std::string good_log(IdKind kind, std::vector<SeenId>& ids) {
  kin::SimulatedDisk disk;
  const SeenPlacement placement{&disk, "d", kind};
  if (!disk.make_folder("d").ok()) std::abort();
  auto log = SeenLogWriter::create(placement, 3, 50);
  if (!log) std::abort();
  for (std::uint64_t i = 0; i < 64; ++i) {
    ids.push_back({kin::mix64(i), kind == IdKind::kText ? i : 0});
    if (!log->add(ids.back()).ok()) std::abort();
    if (i % 7 == 6 && !log->write().ok()) std::abort();
    if (i % 21 == 20 && !log->sync().ok()) std::abort();
  }
  if (!log->seal().ok()) std::abort();
  return *kin::read_whole(disk, log_path("d", 3));
}

void decode(std::string_view bytes, IdKind kind, std::span<const SeenId> written) {
  std::size_t at = 0;
  (void)decode_log(bytes, kind, {3, 50, 0}, [&](SeenId id) {
    if (at >= written.size() || written[at++] != id) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const IdKind kind : {IdKind::kNumber, IdKind::kText}) {
    static thread_local std::vector<SeenId> ids[2];
    const std::size_t which = kind == IdKind::kText ? 1 : 0;
    static thread_local const std::string logs[2] = {good_log(IdKind::kNumber, ids[0]),
                                                     good_log(IdKind::kText, ids[1])};
    decode(bytes, kind, ids[which]);
    // The input gives the changes: a position and a byte, repeatedly; then where to cut.
    std::string log = logs[which];
    kin::ByteReader reader(bytes);
    while (reader.rest().size() >= 3) {
      const auto place = reader.read<std::uint16_t>();
      log[place % log.size()] = static_cast<char>(reader.read<std::uint8_t>());
    }
    if (size % 2 == 1) log.resize(log.size() - (size * 37) % log.size());
    decode(log, kind, ids[which]);
  }
  return 0;
}
