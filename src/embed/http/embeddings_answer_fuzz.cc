// Any answer of a server is refused or holds the vectors that were asked for.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "embed/http/embeddings_answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kin::embed::internal;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  static_cast<void>(error_in(input));
  for (const std::size_t dimension : {0U, 2U}) {
    const auto vectors = parse_embeddings(input, 2, dimension);
    if (!vectors.ok()) continue;
    KIN_CHECK(vectors->size() == 2 && (*vectors)[0].size() == (*vectors)[1].size(), "two vectors");
    for (const float value : (*vectors)[1]) KIN_CHECK(std::isfinite(value), "of numbers");
  }
  return 0;
}
