// Finds items by the bands of their sketches.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/huge_vector.h"
#include "stories/grouping/text_sketch.h"
#include "stories/ids.h"

namespace kin::stories {

// A hash table of bands, chained through the signatures themselves: about 650 bytes an item. One
// thread only.
class SketchIndex {
 public:
  // Does nothing if the item is known.
  void add(ItemId item, const TextSketch& sketch);
  void remove(ItemId item);

  // Nothing if the item is unknown.
  std::optional<TextSketch> find(ItemId item) const;

  struct Match {
    ItemId item{};
    double similarity = 0;
  };
  // The most similar item with a similarity of at least `least`; the one with the lowest id among
  // equals. If very many items share a band, only the newest are compared.
  std::optional<Match> best(const TextSketch& sketch, double least) const;

 private:
  // A band of a row: the row's number times kSketchBands, plus the band's.
  using Entry = std::uint32_t;
  static constexpr Entry kNone = std::numeric_limits<Entry>::max();
  static constexpr std::uint32_t kRows = kSketchHashes / kSketchBands;
  // What a step along a bucket reads is together.
  struct Band {
    std::array<std::uint32_t, kRows> part{};  // of the signature
    Entry next = kNone;                       // an older entry of the same bucket
  };
  struct Row {
    ItemId item{};
    std::array<Band, kSketchBands> bands{};
  };
  static Row row_of(ItemId item, const Signature& signature);
  static Signature signature_of(const Row& row);

  // Rows never move; the array grows by this many at a time.
  static constexpr std::size_t kBlock = 64;
  using Block = std::array<Row, kBlock>;

  Row& row(std::uint32_t number) { return (*blocks_[number / kBlock])[number % kBlock]; }
  const Row& row(std::uint32_t number) const {
    return (*blocks_[number / kBlock])[number % kBlock];
  }
  Band& band(Entry entry) { return row(entry / kSketchBands).bands[entry % kSketchBands]; }
  const Band& band(Entry entry) const {
    return row(entry / kSketchBands).bands[entry % kSketchBands];
  }
  std::size_t bucket(const Band& band, std::uint32_t number) const;
  std::uint32_t take_row();
  void push(Entry entry);
  void grow();
  void collect(std::size_t bucket, const Band& wanted, std::uint32_t number,
               std::vector<std::uint32_t>& rows) const;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<ItemId, std::uint32_t> rows_;
  HugeVector<Entry> heads_;  // the newest entry of each bucket; a power of two
};

}  // namespace kin::stories
