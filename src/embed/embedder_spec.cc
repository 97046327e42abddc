#include "embed/embedder_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kin::embed {
namespace {

// In the order of EmbedderKind.
constexpr std::array<std::string_view, 6> kNames{"none",  "given",     "corpus",
                                                 "words", "model2vec", "http"};
static_assert(kNames.size() == static_cast<std::size_t>(EmbedderKind::kHttp) + 1);

std::optional<EmbedderKind> kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<EmbedderKind>(found - kNames.begin());
}

// Whether the kind's name may be followed by ":PLACE", and whether it must be.
bool takes_place(EmbedderKind kind) {
  return kind >= EmbedderKind::kWords;
}
bool needs_place(EmbedderKind kind) {
  return kind >= EmbedderKind::kModel2Vec;
}

}  // namespace

std::string_view name_of(EmbedderKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

Result<EmbedderSpec> EmbedderSpec::parse(std::string_view text) {
  // An address alone. Below, its colon would be taken for the one after the name of a kind.
  if (text.starts_with("http://") || text.starts_with("https://"))
    return EmbedderSpec{EmbedderKind::kHttp, std::string(text)};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view place = text.substr(std::min(colon + 1, text.size()));
  const auto kind = kind_named(text.substr(0, colon));
  const bool has_place = colon < text.size();
  const bool valid =
      kind && (has_place ? takes_place(*kind) && !place.empty() : !needs_place(*kind));
  if (!valid)
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not an embedder: use corpus, words, words:FILE, "
                             "model2vec:DIR, http:URL#MODEL, given or none",
                             text)};
  return EmbedderSpec{*kind, std::string(place)};
}

std::string EmbedderSpec::text() const {
  return place.empty() ? std::string(name_of(kind)) : fmt::format("{}:{}", name_of(kind), place);
}

}  // namespace kin::embed
