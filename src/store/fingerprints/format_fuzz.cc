// Bytes that are not a fingerprint are refused; others encode to the same bytes.
#include <cstdlib>

#include "base/bytes.h"
#include "store/fingerprints/format.h"
#include "store/ledger/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin;         // NOLINT: a fuzzer is one small file
  using namespace kin::store;  // NOLINT
  // With a valid checksum appended, so that the fields are reached.
  std::string bytes(reinterpret_cast<const char*>(data), size);
  append_le(bytes, checksum(bytes));
  if (const auto fingerprint = decode_fingerprint(bytes)) {
    if (encode_fingerprint(*fingerprint) != bytes) std::abort();
    const auto keys = decode_keys(bytes);
    if (!keys || keys->content != fingerprint->content || keys->words != fingerprint->words ||
        keys->signature.size() != fingerprint->signature.size())
      std::abort();
  }
  (void)decode_keys(bytes);
  if (const auto origin = decode_origin(bytes)) {
    if (encode_origin(*origin) != bytes) std::abort();
  }
  if (const auto parameters = decode_parameters(bytes)) {
    if (encode_parameters(*parameters) != bytes) std::abort();
  }
  if (const auto entry = decode_entry(bytes)) {
    if (encode_entry(*entry) != bytes) std::abort();
  }
  return 0;
}
