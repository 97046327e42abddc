// Models of model2vec: a vector for each piece of a word, distilled from a sentence transformer.
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
  std::string_view safetensors;  // model.safetensors: "embeddings", optionally "weights", "mapping"
};

// A text's vector is the mean of its tokens' vectors. Words with unknown pieces are left out.
// Errors name the file and say what is wrong with it. Thread-safe.
Result<std::shared_ptr<const Embedder>> make_model2vec(const Model2VecFiles& files);

// The same from the folder of a model. "model_type" in its config.json must be "model2vec".
Result<std::shared_ptr<const Embedder>> open_model2vec(const std::filesystem::path& folder);

}  // namespace kin::embed
