// Bytes that no store made are refused; a damaged batch never gives other changes than it had.
#include <cstdlib>

#include "kv/shipped_batch.h"

namespace {

using namespace kin;
using namespace kin::kv;

std::string changes_in(std::string_view bytes, bool& ok) {
  std::string all;
  ok = visit_shipped(bytes, [&](const ShippedChange& change) -> Status {
         all += std::to_string(static_cast<int>(change.kind));
         all.append(change.family).append(change.key).append(change.value);
         return Done{};
       }).ok();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool ok = false;
  changes_in(bytes, ok);
  // Any bytes as changes of a batch with a right checksum: refused, or read to the end.
  const std::vector<std::string> families{"default", "edges"};
  std::string batch = encode_shipped(families, bytes);
  const std::string whole = changes_in(batch, ok);
  if (!ok || size == 0) return 0;
  batch[data[0] % batch.size()] ^= static_cast<char>(1 + data[size / 2] % 255);
  bool damaged_ok = false;
  changes_in(batch, damaged_ok);
  if (damaged_ok) std::abort();
  return 0;
}
