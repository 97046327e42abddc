// An embedder by the name a user gives it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"
#include "net/address.h"

namespace kin::embed {

// The name of the file of word vectors in a folder of models.
inline constexpr std::string_view kWordVectorsFile = "words.kwv";

struct EmbedderPlaces {
  std::vector<std::filesystem::path> folders = {};  // of models; the first that has one counts
  std::string key = {};                             // for an http embedder: its bearer token
  // Of an http embedder's vectors; 0: it is asked for it, and must answer.
  std::uint32_t dimension = 0;
  net::AddressPolicy addresses = {};  // that an http embedder may connect to
};

// $KINDRED_MODELS, if it is set, and then `otherwise`. Thread-safe while nobody sets variables.
std::vector<std::filesystem::path> model_folders(const std::filesystem::path& otherwise);

// What `spec` names:
//   words             word vectors: words.kwv in one of the folders
//   words:FILE        word vectors of a file
//   model2vec:DIR     a model of model2vec; a name alone is looked for in the folders, too
//   http:URL#MODEL    a server that speaks OpenAI's API; the "http:" in front may be left out
// kInvalidArgument for anything else: "corpus" is trained (corpus_model.h), not opened.
// Thread-safe.
Result<std::shared_ptr<const Embedder>> open_embedder(std::string_view spec,
                                                      const EmbedderPlaces& places = {});

}  // namespace kin::embed
