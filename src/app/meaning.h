// The word vectors that story grouping uses.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "embed/embedder.h"

namespace kin::app {

inline constexpr const char* kDefaultMeaning = "words";

// The model that `spec` names: "none", "words", "words:FILE" or "model2vec:DIR". Null for "none",
// and for kDefaultMeaning if its file is nowhere: then words are compared without their meaning.
// `data` is the data folder.
Result<std::shared_ptr<const embed::Embedder>> open_meaning(const std::string& spec,
                                                            const std::filesystem::path& data);

}  // namespace kin::app
