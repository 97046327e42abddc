#include "embed/open_embedder.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "embed/files/model2vec.h"
#include "embed/files/word_vectors.h"
#include "embed/http/http_embedder.h"

namespace kin::embed {
namespace {

namespace fs = std::filesystem;
using Opened = Result<std::shared_ptr<const Embedder>>;

Opened open_words(const EmbedderPlaces& places) {
  std::string looked;
  for (const fs::path& folder : places.folders) {
    KIN_TRY(const bool there, file_exists(folder / kWordVectorsFile));
    if (there) return open_word_vectors(folder / kWordVectorsFile);
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", folder.string());
  }
  return Error{Code::kNotFound,
               fmt::format("no word vectors ({}) in {} (run scripts/setup to make them, or set "
                           "$KINDRED_MODELS to their folder)",
                           kWordVectorsFile, looked.empty() ? "any folder" : looked)};
}

Opened open_model(const fs::path& given, const EmbedderPlaces& places) {
  // A path is taken as it is. A name alone may also be in a folder of models.
  KIN_TRY(const bool there, file_exists(given));
  if (there || given.has_parent_path()) return open_model2vec(given);
  for (const fs::path& folder : places.folders) {
    KIN_TRY(const bool in_folder, file_exists(folder / given));
    if (in_folder) return open_model2vec(folder / given);
  }
  // Fails, with an error that names what was asked for.
  return open_model2vec(given);
}

Opened open_http(std::string_view address, Clock& clock, const EmbedderPlaces& places) {
  const std::size_t hash = address.rfind('#');  // the name of a model has none
  if (hash == std::string_view::npos || hash + 1 == address.size())
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: the name of the model is missing (write URL#MODEL)", address)};
  return open_http_embedder({.url = std::string(address.substr(0, hash)),
                             .model = std::string(address.substr(hash + 1)),
                             .key = places.key,
                             .dimension = places.dimension,
                             .addresses = places.addresses},
                            clock);
}

}  // namespace

std::vector<fs::path> model_folders(const fs::path& otherwise) {
  std::vector<fs::path> out;
  const char* const set = std::getenv("KINDRED_MODELS");
  if (set != nullptr && *set != '\0') out.emplace_back(set);
  if (!otherwise.empty()) out.push_back(otherwise);
  return out;
}

Opened open_embedder(const EmbedderSpec& spec, Clock& clock, const EmbedderPlaces& places) {
  switch (spec.kind) {
    case EmbedderKind::kNone:
    case EmbedderKind::kGiven:
    case EmbedderKind::kCorpus:
      return Error{Code::kInvalidArgument,
                   fmt::format("\"{}\" is not an embedder that can be opened", spec.text())};
    case EmbedderKind::kWords:
      return spec.place.empty() ? open_words(places) : open_word_vectors(fs::path(spec.place));
    case EmbedderKind::kModel2Vec: return open_model(fs::path(spec.place), places);
    case EmbedderKind::kHttp: return open_http(spec.place, clock, places);
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::embed
