// Any bytes are either refused or make a Parquet file that can be joined again.
#include "data/parquet/joiner.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>

namespace {

bool join(const std::filesystem::path& part, const std::filesystem::path& whole, int times) {
  auto joiner = kin::data::ParquetJoiner::create(whole);
  if (!joiner) std::abort();
  for (int i = 0; i < times; ++i) {
    if (!joiner->append(part)) return false;
  }
  if (!joiner->finish()) std::abort();
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // In memory, because closing flushes files to disk, and there are thousands of them.
  static const kin::TemporaryFolder folder = kin::TemporaryFolder::create("/dev/shm").value();
  const auto part = folder.path() / "part";
  const auto whole = folder.path() / "whole";
  std::ofstream(part, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  {
    const auto file = kin::File::open_to_read(part);
    auto pairs = kin::data::read_key_values(file.value());
    if (pairs) {
      for (auto& pair : *pairs) kin::data::key_of(pair);
    }
  }
  if (join(part, whole, 2) && !join(whole, part, 1)) std::abort();
  return 0;
}
