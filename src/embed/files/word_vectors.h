// Static word vectors: what words mean in general, learnt elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"

namespace kin::embed {

// One vector of a word, with the place of the word in order of frequency: 0 for the most frequent.
struct WordVector {
  std::string word;  // folded, as text::fold_word() gives it
  std::uint32_t rank = 0;
  std::vector<float> values;  // finite
};

// The bytes of a file of word vectors (words.kwv). All vectors are of one dimension; of the same
// word the first counts. Thread-safe.
std::string encode_word_vectors(const std::vector<WordVector>& words);

// A text's vector is the mean of its words' vectors, rare words counting more, without what all
// texts have in common. kDataLoss if the bytes are no such file.
Result<std::shared_ptr<const Embedder>> decode_word_vectors(std::string bytes);

// The same from a file; errors name it.
Result<std::shared_ptr<const Embedder>> open_word_vectors(const std::filesystem::path& file);

}  // namespace kin::embed
