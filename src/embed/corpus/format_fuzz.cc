// Bytes that are not a corpus model are refused. With a corrected checksum, valid models are
// written back unchanged and can be used.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "embed/corpus/data.h"

namespace {

using namespace kin::embed;

void try_model(const std::string& bytes) {
  const auto data = internal::decode_corpus(bytes);
  if (!data.ok()) return;
  KIN_CHECK(internal::encode_corpus(*data) == bytes, "what is decoded is written back");
  const auto model = CorpusModel::decode(bytes);
  if (!model.ok()) return;
  const std::string_view texts[] = {"a word and another word", ""};
  const auto vectors = (*model)->embed(texts);
  KIN_CHECK(vectors.ok() && vectors->size() == 2, "any model embeds");
  for (const auto& vector : *vectors) {
    for (const float value : vector) KIN_CHECK(std::isfinite(value), "vectors are finite");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try_model(bytes);
  if (size < 8) return 0;
  const std::string_view body = std::string_view(bytes).substr(0, size - 8);
  kin::store_le(bytes.data() + body.size(), kin::checksum(body));
  try_model(bytes);
  return 0;
}
