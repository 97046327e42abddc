// Models of model2vec: a row for every piece of a word, distilled from a sentence transformer.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "embed/embedder.h"

namespace kin::embed {

// The files of a model, as bytes.
struct Model2VecFiles {
  std::string_view tokenizer;    // tokenizer.json: BERT's words and pieces
  std::string_view safetensors;  // model.safetensors: "embeddings", and "weights" and "mapping" if
                                 // there are any
};

// A text's vector is the mean of its tokens' rows; what is made of no known pieces is left out.
// Errors say which file is wrong, and what about it. Thread-safe.
Result<std::shared_ptr<const Embedder>> make_model2vec(const Model2VecFiles& files);

// The same from the folder of a model; its config.json must say that it is one.
Result<std::shared_ptr<const Embedder>> open_model2vec(const std::filesystem::path& folder);

}  // namespace kin::embed
