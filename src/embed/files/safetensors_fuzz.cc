// The tensors of any file lie in it; a header is tried with its length made to fit, too.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "embed/files/model2vec.h"
#include "embed/files/safetensors.h"

namespace {

constexpr std::string_view kTokenizer =
    R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
    R"("model":{"type":"WordPiece","vocab":{"a":0,"##b":1}}})";

void try_file(std::string_view file) {
  const auto tensors = kin::embed::internal::parse_safetensors(file);
  if (!tensors.ok()) return;
  for (const auto& tensor : *tensors) {
    std::size_t count = 1;
    for (const std::size_t extent : tensor.shape) count *= extent;
    KIN_CHECK(count == tensor.count(), "a tensor has as many numbers as its shape says");
    if (count == 0) continue;
    static_cast<void>(tensor.at(0));
    static_cast<void>(tensor.at(count - 1));
  }
  const auto model = kin::embed::make_model2vec({.tokenizer = kTokenizer, .safetensors = file});
  if (!model.ok()) return;
  const std::string_view texts[] = {"ab a"};
  KIN_CHECK((*model)->embed(texts).ok(), "any model embeds");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try_file(input);
  const std::size_t end = input.rfind('}');
  if (end == std::string_view::npos) return 0;
  std::string file;
  kin::append_le(file, std::uint64_t{end + 1});
  try_file(file.append(input));
  return 0;
}
