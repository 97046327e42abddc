#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "embed/corpus/data.h"
#include "embed/files/model_file.h"

namespace kin::embed::internal {
namespace {

constexpr ModelFile kFile{.magic = "KCVM", .version = 1, .what = "corpus model"};

// A right checksum does not make a right model: terms are found by binary search, and a scale that
// is not finite would spoil every vector.
Status check(const CorpusData& data) {
  if (std::adjacent_find(data.keys.begin(), data.keys.end(), std::greater_equal<>()) !=
      data.keys.end())
    return kFile.damaged("its terms are not in order");
  const bool plain = std::all_of(data.scales.begin(), data.scales.end(),
                                 [](float scale) { return std::isfinite(scale) && scale >= 0; });
  if (!plain) return kFile.damaged("the scale of a row is not finite");
  return Done{};
}

}  // namespace

std::string encode_corpus(const CorpusData& data) {
  std::string out = kFile.begin();
  append_le(out, data.documents);
  append_le(out, data.dimension);
  append_le(out, static_cast<std::uint32_t>(data.keys.size()));
  append_le(out, static_cast<std::uint16_t>(data.language.size()));
  out += data.language;
  out += as_bytes_view(std::span(data.keys));
  out += as_bytes_view(std::span(data.scales));
  out += as_bytes_view(std::span(data.rows));
  ModelFile::seal(out);
  return out;
}

Result<CorpusData> decode_corpus(std::string_view bytes) {
  KIN_TRY(const std::string_view body, kFile.open(bytes));
  ByteReader reader(body);
  CorpusData data;
  data.documents = reader.read<std::uint64_t>();
  data.dimension = reader.read<std::uint32_t>();
  const auto terms = reader.read<std::uint32_t>();
  data.language = reader.read_bytes(reader.read<std::uint16_t>());
  if (!reader.ok() || data.dimension == 0 || data.dimension > kMostDimensions)
    return kFile.damaged("its header is not valid");
  // Both factors have at most 32 bits, so the product is exact; it bounds what is allocated below.
  const std::uint64_t a_term = sizeof(std::uint64_t) + sizeof(float) + data.dimension;
  if (reader.rest().size() != terms * a_term)
    return kFile.damaged("its length does not fit its header");
  data.keys = reader.read_vector<std::uint64_t>(terms);
  data.scales = reader.read_vector<float>(terms);
  data.rows = reader.read_vector<std::int8_t>(std::size_t{terms} * data.dimension);
  KIN_RETURN_IF_ERROR(check(data));
  return data;
}

}  // namespace kin::embed::internal
