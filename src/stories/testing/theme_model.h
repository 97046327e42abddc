// An embedder of a few words, each about one of eight themes.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "embed/embedder.h"

namespace kin::stories {

// A word that begins with "x" is about the theme of its second letter, from "a" to "h". Other words
// are not known. Thread-safe.
class ThemeModel final : public embed::Embedder {
 public:
  explicit ThemeModel(std::uint64_t hash = 7)
      : info_{.kind = embed::EmbedderKind::kWords, .dimension = kThemes, .model_hash = hash} {}

  const embed::EmbedderInfo& info() const override { return info_; }

  Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const override {
    std::vector<std::vector<float>> vectors;
    for (const std::string_view text : texts) vectors.push_back(vector_of(text));
    return vectors;
  }

 private:
  static constexpr std::uint32_t kThemes = 8;

  static std::vector<float> vector_of(std::string_view text) {
    std::vector<float> vector(kThemes);
    float square = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view word = take_until(rest, " ");
      if (word.size() < 2 || word[0] != 'x' || word[1] < 'a' || word[1] > 'h') continue;
      vector[static_cast<std::size_t>(word[1] - 'a')] += 1;
    }
    for (const float value : vector) square += value * value;
    if (square == 0) return {};
    for (float& value : vector) value /= std::sqrt(square);
    return vector;
  }

  embed::EmbedderInfo info_;
};

}  // namespace kin::stories
