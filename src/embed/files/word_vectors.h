// Static word vectors, trained elsewhere on general texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"

namespace kin::embed {

// The vector of a word, and its rank by frequency: 0 for the most frequent word.
struct WordVector {
  std::string word;  // folded, as text::fold_word() gives it
  std::uint32_t rank = 0;
  std::vector<float> values;  // finite
};

// Encodes a file of word vectors (words.kwv). All vectors must have one dimension. If a word occurs
// twice, the first one is used. Thread-safe.
std::string encode_word_vectors(const std::vector<WordVector>& words);

// A text's vector is the weighted mean of its words' vectors, with more weight for rare words,
// minus the directions that all texts have in common. kDataLoss if the bytes are not such a file.
Result<std::shared_ptr<const Embedder>> decode_word_vectors(std::string bytes);

// The same from a file; errors name it.
Result<std::shared_ptr<const Embedder>> open_word_vectors(const std::filesystem::path& file);

}  // namespace kin::embed
