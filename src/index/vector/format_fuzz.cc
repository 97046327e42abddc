// Bytes that are not a checkpoint are refused or, if their checksum happens to match, decoded;
// decoded bytes are written back unchanged.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/vector/format.h"

using namespace kin::index;

namespace {

// With a valid checksum, so that the fuzzer gets past the check.
std::string sealed(std::string_view bytes) {
  std::string out(bytes);
  kin::append_le(out, kin::checksum(bytes));
  return out;
}

void check_head(const std::string& bytes) {
  const auto head = internal::decode_head(bytes);
  if (head.ok() && internal::encode_head(*head) != bytes) std::abort();
}

void check_cell(const VectorSpace& space, const std::string& bytes) {
  const auto cell = internal::decode_cell(space, 1, 3, bytes);
  if (!cell.ok()) return;
  if (internal::encode_cell(3, cell->centre, *cell->posting) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const VectorSpace plain{.dimension = 5, .storage = RawStorage::kElsewhere, .bits = 4};
  const VectorSpace kept{.dimension = 3, .storage = RawStorage::kF16, .bits = 1};
  for (const std::string& input : {std::string(bytes), sealed(bytes)}) {
    check_head(input);
    check_cell(plain, input);
    check_cell(kept, input);
  }
  return 0;
}
