#include "embed/open_embedder.h"

#include <fmt/format.h>

#include <algorithm>
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

// The path of a named file or model below one of the folders.
Result<fs::path> below_folders(const std::string& given, const EmbedderPlaces& places) {
  for (const fs::path& folder : places.folders) {
    std::error_code problem;
    const fs::path root = fs::weakly_canonical(folder, problem);
    // An absolute name replaces the folder.
    const fs::path path = fs::weakly_canonical(root / given, problem);
    const auto [end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
    if (problem || end != root.end()) continue;
    KIN_TRY(const bool there, file_exists(path));
    if (there) return path;
  }
  std::string looked;
  for (const fs::path& folder : places.folders)
    looked += fmt::format("{}{}", looked.empty() ? "" : ", ", folder.string());
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not in a folder of models ({}): put it into one of them, or set "
                           "$KINDRED_MODELS",
                           given, looked.empty() ? "there is none" : looked)};
}

// The path of a file or model that is named. A path is taken as it is; a relative one may also be
// in a folder of models.
Result<fs::path> named_path(const std::string& given, const EmbedderPlaces& places) {
  if (places.only_folders) return below_folders(given, places);
  KIN_TRY(const bool there, file_exists(given));
  if (there || fs::path(given).is_absolute()) return fs::path(given);
  const auto path = below_folders(given, places);
  // Opening it fails, with an error that contains the given name.
  return path ? *path : fs::path(given);
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
    case EmbedderKind::kWords: {
      if (spec.place.empty()) return open_words(places);
      KIN_TRY(const fs::path path, named_path(spec.place, places));
      return open_word_vectors(path);
    }
    case EmbedderKind::kModel2Vec: {
      KIN_TRY(const fs::path path, named_path(spec.place, places));
      return open_model2vec(path);
    }
    case EmbedderKind::kHttp: return open_http(spec.place, clock, places);
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::embed
