#include "index/text_document.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/bytes.h"
#include "base/hash.h"
#include "text/stems.h"

namespace kin::index {
namespace {

constexpr std::size_t kMostFields = 16;

Error wrong(std::string message) {
  return Error{Code::kInvalidArgument, std::move(message)};
}

Status check_name(std::string_view name, std::set<std::string_view>& names) {
  if (name.empty()) return wrong("a field of a text index has no name");
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!fits)
      return wrong(fmt::format("\"{}\" is not a valid name of a field (use a-z, 0-9 and _)", name));
  }
  if (!names.insert(name).second) return wrong(fmt::format("two fields are named \"{}\"", name));
  return Done{};
}

Status check_weight(const TextField& field) {
  // The index counts in quarters of a word, in whole numbers.
  const double quarters = field.weight * 4;
  if (quarters >= 1 && quarters <= 64 && quarters == std::floor(quarters)) return Done{};
  return wrong(fmt::format("the weight of field \"{}\" is {} (use 0.25 to 16, in quarters)",
                           field.name, field.weight));
}

}  // namespace

Status check_options(const TextOptions& options) {
  if (options.fields.empty()) return wrong("a text index needs at least one field");
  if (options.fields.size() > kMostFields || options.facets.size() > kMostFields)
    return wrong(fmt::format("a text index has at most {} fields and facets", kMostFields));
  std::set<std::string_view> names;
  for (const TextField& field : options.fields) {
    KIN_RETURN_IF_ERROR(check_name(field.name, names));
    KIN_RETURN_IF_ERROR(check_weight(field));
  }
  for (const std::string& facet : options.facets) KIN_RETURN_IF_ERROR(check_name(facet, names));
  const auto [k1, b] = options.ranking;
  if (!(k1 >= 0 && k1 <= 100)) return wrong("k1 of BM25 must be from 0 to 100");
  if (!(b >= 0 && b <= 1)) return wrong("b of BM25 must be from 0 to 1");
  KIN_RETURN_IF_ERROR(text::Stemmer::create(options.language));
  return Done{};
}

std::uint64_t options_hash(const TextOptions& options) {
  // Not the ranking: it is applied by searches and may change. The separators keep names apart.
  std::string bytes;
  for (const TextField& field : options.fields) {
    bytes += field.name + '\0';
    append_le(bytes, field.weight);
  }
  bytes += '\1';
  for (const std::string& facet : options.facets) bytes += facet + '\0';
  bytes += '\1' + options.language;
  return hash64(bytes);
}

}  // namespace kin::index
