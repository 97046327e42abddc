// Sketches of texts, by which near-duplicates are found.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "sketch/banding.h"
#include "sketch/minhash.h"

namespace kin::index {

// The sketch of a text. A text shorter than a shingle is one shingle, so it is near only texts with
// the same words. A text without words is near nothing.
struct TextSketch {
  std::vector<std::uint64_t> shingles = {};  // a set, in order
  std::vector<std::uint32_t> keys = {};      // one per band; empty for a text without words
  friend bool operator==(const TextSketch&, const TextSketch&) = default;
};

// A stored text that is near to another.
struct NearText {
  DocId id = {};
  double similarity = 0;     // of their shingles, exactly
  std::uint32_t shared = 0;  // bands with the same key
  std::uint64_t age = 0;     // see ApplyOptions::ages
  friend bool operator==(const NearText&, const NearText&) = default;
};

// Makes sketches whose keys are those of one threshold. Thread-safe.
class TextSketcher {
 public:
  // kInvalidArgument for a threshold that 128 hashes cannot serve.
  static Result<TextSketcher> create(double threshold);

  double threshold() const { return threshold_; }
  std::uint32_t bands() const { return banding_.bands; }
  // Hash of the options and of the versions of all that keys depend on.
  std::uint64_t options_hash() const;
  // The sketch of the text, or of the title if there is no text.
  TextSketch sketch(const Entity& entity) const;

 private:
  TextSketcher(double threshold, sketch::Banding banding)
      : threshold_(threshold), banding_(banding) {}

  double threshold_;
  sketch::Banding banding_;
  sketch::MinHasher hasher_;
};

}  // namespace kin::index
