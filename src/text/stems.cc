#include "text/stems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libstemmer.h>

#include <algorithm>

namespace kin::text {
namespace {

// Longer words are not natural language, and the library counts in int.
constexpr std::size_t kLongestWord = 256;

}  // namespace

std::vector<std::string> stem_languages() {
  std::vector<std::string> names;
  for (const char** name = sb_stemmer_list(); *name != nullptr; ++name) names.emplace_back(*name);
  std::ranges::sort(names);
  return names;
}

void Stemmer::Release::operator()(void* algorithm) const {
  sb_stemmer_delete(static_cast<sb_stemmer*>(algorithm));
}

Result<Stemmer> Stemmer::create(std::string_view language) {
  Stemmer stemmer;
  if (language == "none") return stemmer;
  // The default encoding of the library is UTF-8.
  stemmer.algorithm_.reset(sb_stemmer_new(std::string(language).c_str(), nullptr));
  if (stemmer.algorithm_ != nullptr) return stemmer;
  return Error{Code::kInvalidArgument,
               fmt::format("there are no stems for the language \"{}\" (use none, {})", language,
                           fmt::join(stem_languages(), ", "))};
}

std::string_view Stemmer::stem(std::string_view word) {
  if (algorithm_ == nullptr || word.size() > kLongestWord) return word;
  auto* const algorithm = static_cast<sb_stemmer*>(algorithm_.get());
  const sb_symbol* const stem = sb_stemmer_stem(
      algorithm, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  // The library returns null if it has no memory. The word itself is still a usable term.
  if (stem == nullptr) return word;
  const auto length = static_cast<std::size_t>(sb_stemmer_length(algorithm));
  // An empty stem would match every other word that has one.
  if (length == 0) return word;
  return {reinterpret_cast<const char*>(stem), length};
}

}  // namespace kin::text
