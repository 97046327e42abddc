// Any bytes as a spill file are read completely, or refused.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "dedup/spill/spill.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kin::TemporaryFolder folder = *kin::TemporaryFolder::create();
  const std::filesystem::path path = folder.path() / "fuzz.spill";
  // The input itself, and a valid frame with the input as its records.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string frame =
      kin::dedup::encode_spill_frame(static_cast<std::uint16_t>(size % 256), input);
  for (const std::string& bytes : {std::string(input), frame + std::string(input)}) {
    if (!kin::File::create(path)->write(bytes).ok()) std::abort();
    kin::dedup::Spill spill({.file = path, .record_bytes = 1, .memory_bytes = 0});
    if (!spill.reopen(bytes.size()).ok()) continue;
    std::size_t total = 0;
    for (std::size_t bin = 0; bin < kin::dedup::Spill::kBins; ++bin) {
      const auto records = spill.read(bin);
      if (records.ok()) total += records->size();
    }
    if (total > bytes.size()) std::abort();
  }
  return 0;
}
