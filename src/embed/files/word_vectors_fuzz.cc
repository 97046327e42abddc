// Bytes that are not word vectors are refused. With
// a corrected checksum, valid ones can be used.
#include "embed/files/word_vectors.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace {

void try_words(const std::string& bytes) {
  const auto words = kin::embed::decode_word_vectors(bytes);
  if (!words.ok()) return;
  const std::string_view texts[] = {"the ship in a straße", ""};
  const auto vectors = (*words)->embed(texts);
  KIN_CHECK(vectors.ok() && vectors->size() == 2, "any words embed");
  for (const auto& vector : *vectors) {
    for (const float value : vector) KIN_CHECK(std::isfinite(value), "vectors are finite");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try_words(bytes);
  if (size < 8) return 0;
  const std::string_view body = std::string_view(bytes).substr(0, size - 8);
  kin::store_le(bytes.data() + body.size(), kin::checksum(body));
  try_words(bytes);
  return 0;
}
