#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/hash.h"
#include "embed/internal/corpus_data.h"
#include "embed/internal/terms.h"

namespace kin::embed::internal {
namespace {

constexpr std::string_view kMagic = "KCVM";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kSealBytes = sizeof(std::uint64_t);
constexpr std::uint32_t kMostDimensions = 65'536;

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("this is no corpus model: {}", what)};
}

template <typename T>
std::vector<T> read_all(ByteReader& reader, std::size_t count) {
  const std::string_view bytes = reader.read_bytes(count * sizeof(T));
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Status check(const CorpusData& data) {
  if (std::adjacent_find(data.keys.begin(), data.keys.end(), std::greater_equal<>()) !=
      data.keys.end())
    return damaged("its terms are not in order");
  const bool plain = std::all_of(data.scales.begin(), data.scales.end(),
                                 [](float scale) { return std::isfinite(scale) && scale >= 0; });
  if (!plain) return damaged("a row's scale is no number");
  return Done{};
}

}  // namespace

std::string encode_corpus(const CorpusData& data) {
  std::string out(kMagic);
  append_le(out, kVersion);
  append_le(out, kTermsVersion);
  append_le(out, data.documents);
  append_le(out, data.dimension);
  append_le(out, static_cast<std::uint32_t>(data.keys.size()));
  append_le(out, static_cast<std::uint16_t>(data.language.size()));
  out += data.language;
  out += as_bytes_view(std::span(data.keys));
  out += as_bytes_view(std::span(data.scales));
  out += as_bytes_view(std::span(data.rows));
  append_le(out, checksum(out));
  return out;
}

Result<CorpusData> decode_corpus(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return damaged("it does not begin like one");
  if (bytes.size() < kMagic.size() + kSealBytes) return damaged("it is cut short");
  const std::string_view body = bytes.substr(0, bytes.size() - kSealBytes);
  ByteReader reader(body.substr(kMagic.size()));
  const auto version = reader.read<std::uint16_t>();
  if (version != kVersion)
    return damaged(fmt::format("its version is {}, and this program reads {}", version, kVersion));
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body))
    return damaged("its checksum does not hold");
  if (const auto terms = reader.read<std::uint16_t>(); terms != kTermsVersion)
    return damaged(fmt::format("its terms are of version {}, and those of this program of {}",
                               terms, kTermsVersion));
  CorpusData data;
  data.documents = reader.read<std::uint64_t>();
  data.dimension = reader.read<std::uint32_t>();
  const auto terms = reader.read<std::uint32_t>();
  data.language = reader.read_bytes(reader.read<std::uint16_t>());
  if (!reader.ok() || data.dimension == 0 || data.dimension > kMostDimensions)
    return damaged("its header makes no sense");
  const std::uint64_t a_term = sizeof(std::uint64_t) + sizeof(float) + data.dimension;
  if (reader.rest().size() != terms * a_term) return damaged("its length does not fit its header");
  data.keys = read_all<std::uint64_t>(reader, terms);
  data.scales = read_all<float>(reader, terms);
  data.rows = read_all<std::int8_t>(reader, std::size_t{terms} * data.dimension);
  KIN_RETURN_IF_ERROR(check(data));
  return data;
}

}  // namespace kin::embed::internal
