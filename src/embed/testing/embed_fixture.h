// Fixtures for tests of embedders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "embed/embedder.h"

namespace kin::embed {

inline std::vector<float> vector_of(const Embedder& embedder, std::string_view text) {
  const std::string_view texts[] = {text};
  return embedder.embed(texts).value().front();
}

inline double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  KIN_CHECK(a.size() == b.size(), "vectors of one space");
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

inline double length(const std::vector<float>& vector) {
  return cosine(vector, vector);
}

inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

}  // namespace kin::embed
