// Opens the embedders that need no training.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "embed/embedder.h"
#include "embed/embedder_spec.h"
#include "net/address.h"

namespace kin::embed {

// The name of the file of word vectors in a folder of models.
inline constexpr std::string_view kWordVectorsFile = "words.kwv";

struct EmbedderPlaces {
  std::vector<std::filesystem::path> folders = {};  // of models; the first that has the file counts
  // Files and models that are named must be below one of the folders, also by their real path.
  // Relative names are looked for there.
  bool only_folders = false;
  std::string key = {};  // bearer token of an http embedder
  // Dimension of an http embedder's vectors; 0: the server is asked, and must answer.
  std::uint32_t dimension = 0;
  net::AddressPolicy addresses = {};  // addresses that an http embedder may connect to
};

// $KINDRED_MODELS, if it is set, and then `otherwise`. Thread-safe while nobody sets variables.
std::vector<std::filesystem::path> model_folders(const std::filesystem::path& otherwise);

// Opens word vectors, a model2vec model or an http embedder. kWords without a file is looked for in
// the folders, and so are relative names that are not there. Files must be regular and of at most 4
// GiB. kInvalidArgument for kNone, kGiven and kCorpus. An http embedder waits between tries on
// `clock`, which must outlive it. Thread-safe.
Result<std::shared_ptr<const Embedder>> open_embedder(const EmbedderSpec& spec, Clock& clock,
                                                      const EmbedderPlaces& places = {});

}  // namespace kin::embed
