// Finds republished text with MinHash signatures of title and summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "stories/ids.h"
#include "stories/item.h"

namespace kin::stories {

// 20 bands of 5 rows find 97.5 % of pairs at similarity 0.7 and 99.96 % at 0.8.
inline constexpr std::uint32_t kSketchHashes = 100;
inline constexpr std::uint32_t kSketchBands = 20;

// Stored with the item: the signature as a blob, the bands as rows for lookup. The hash functions
// are those of src/sketch/ and never change.
struct TextSketch {
  std::array<std::uint32_t, kSketchHashes> signature{};
  std::array<std::uint64_t, kSketchBands> bands{};
  friend bool operator==(const TextSketch&, const TextSketch&) = default;
};

// The share of equal signature slots: an estimate of the Jaccard similarity of the texts' word
// pairs. Thread-safe.
double similarity(const TextSketch& a, const TextSketch& b);

// Computes the bands of a stored signature. Thread-safe.
TextSketch sketch_of_signature(const std::array<std::uint32_t, kSketchHashes>& signature);

// One thread only: it owns scratch memory.
class TextSketcher {
 public:
  TextSketcher();

  // Nothing for a text of fewer than four words: these may be equal by chance.
  std::optional<TextSketch> sketch(const Item& item);

 private:
  sketch::Shingler shingler_;
  sketch::MinHasher hasher_;
  std::string text_;
};

// Finds items by the bands of their sketches. One thread only.
class SketchIndex {
 public:
  void add(ItemId item, const TextSketch& sketch);
  void remove(ItemId item);

  const TextSketch* find(ItemId item) const;

  struct Match {
    ItemId item{};
    double similarity = 0;
  };
  // The most similar item with a similarity of at least `least`; of equals the one with the lowest
  // id. Of a band that very many items share, only the newest are compared.
  std::optional<Match> best(const TextSketch& sketch, double least) const;

 private:
  std::unordered_map<ItemId, TextSketch> sketches_;
  std::unordered_map<std::uint64_t, std::vector<ItemId>> buckets_;
};

}  // namespace kin::stories
