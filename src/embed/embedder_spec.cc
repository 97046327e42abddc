#include "embed/embedder_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kin::embed {
namespace {

constexpr EmbedderKind kKinds[] = {EmbedderKind::kNone,      EmbedderKind::kGiven,
                                   EmbedderKind::kCorpus,    EmbedderKind::kWords,
                                   EmbedderKind::kModel2Vec, EmbedderKind::kHttp};

std::optional<EmbedderKind> kind_named(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](EmbedderKind kind) { return name_of(kind) == name; });
  return found == std::end(kKinds) ? std::nullopt : std::optional(*found);
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
  switch (kind) {
    case EmbedderKind::kNone: return "none";
    case EmbedderKind::kGiven: return "given";
    case EmbedderKind::kCorpus: return "corpus";
    case EmbedderKind::kWords: return "words";
    case EmbedderKind::kModel2Vec: return "model2vec";
    case EmbedderKind::kHttp: return "http";
  }
  KIN_UNREACHABLE();
}

Result<EmbedderSpec> EmbedderSpec::parse(std::string_view text) {
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
