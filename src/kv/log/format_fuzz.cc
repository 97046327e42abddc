// A damaged log gives a prefix of the changes that were written, or is refused.
#include <cstdlib>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/testing/simulated_disk.h"
#include "kv/log/format.h"

namespace {

using namespace kin;
using namespace kin::kv;

std::string encoded(const LogChange& change) {
  std::string payload;
  append_change(payload, change);
  return payload;
}

std::string good_log(std::vector<std::string>& changes) {
  SimulatedDisk disk;
  auto log = LogWriter::create(*disk.create("/log"), {"default", "other"});
  if (!log.ok()) std::abort();
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i);
    changes.push_back(encoded({static_cast<LogChange::Kind>(1 + i % 3), i % 2, key,
                               i % 3 == 1 ? "" : std::string_view("value")}));
    if (!log->append(changes.back()).ok()) std::abort();
    if (i == 5 && !log->seal().ok()) std::abort();
    if (i % 7 == 6 && !log->sync().ok()) std::abort();
  }
  return *read_whole(disk, "/log");
}

// The changes read from `bytes` must be a prefix of `written`.
void decode(std::string_view bytes, const std::vector<std::string>& written) {
  std::size_t at = 0;
  (void)decode_log(
      bytes, [](const std::vector<std::string>&) {},
      [&](const LogChange& change) {
        if (at >= written.size() || written[at++] != encoded(change)) std::abort();
      });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static std::vector<std::string> changes;
  static const std::string whole = good_log(changes);
  decode(bytes, {});
  // A payload of any bytes is refused, or has one spelling.
  std::string again;
  if (visit_changes(bytes, 2, [&](const LogChange& change) { append_change(again, change); })
          .ok() &&
      again != bytes)
    std::abort();
  // The input says what to change: a place and a byte, again and again; then where to cut.
  std::string log = whole;
  ByteReader reader(bytes);
  while (reader.rest().size() >= 3) {
    const auto place = reader.read<std::uint16_t>();
    log[place % log.size()] = static_cast<char>(reader.read<std::uint8_t>());
  }
  if (size % 2 == 1) log.resize(log.size() - (size * 37) % log.size());
  decode(log, changes);
  return 0;
}
