// Finds near-duplicates by the keys of MinHash bands, in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/text_sketch.h"

namespace kin::index {

// A page of keys as bytes (docs/formats.md), and back.
struct SignaturePage {
  std::uint32_t bands = 0;
  std::vector<std::uint32_t> numbers = {};  // ascending
  std::vector<std::uint32_t> keys = {};     // `bands` of each number
  friend bool operator==(const SignaturePage&, const SignaturePage&) = default;
};
std::string encode(const SignaturePage& page);
Result<SignaturePage> decode_signature_page(std::string_view bytes);

// Document numbers under the keys of their bands. The caller compares candidates by their shingles.
// At the threshold one similar text in a hundred is missed, above it fewer. Numbers must be added
// in ascending order. Thread-compatible.
class NearDuplicates {
 public:
  // kInvalidArgument for a threshold that 128 hashes cannot serve.
  static Result<NearDuplicates> create(double threshold);

  double threshold() const { return sketcher_.threshold(); }
  std::uint64_t options_hash() const { return sketcher_.options_hash(); }
  const TextSketcher& sketcher() const { return sketcher_; }  // thread-safe
  TextSketch sketch(const Entity& entity) const { return sketcher_.sketch(entity); }

  // Does nothing if a number as high was added before, or if there are no keys.
  void learn(std::uint32_t number, std::span<const std::uint32_t> keys);
  void forget(std::uint32_t number);
  // Numbers that share a band, with the most shared bands first; at most kMostCandidates.
  static constexpr std::size_t kMostCandidates = 64;
  std::vector<std::uint32_t> candidates(std::span<const std::uint32_t> keys) const;

  std::size_t size() const { return live_; }
  // Empty for an unknown number.
  std::span<const std::uint32_t> keys(std::uint32_t number) const;
  std::vector<std::uint32_t> numbers() const;

  // The pages that changed since the last call, or all. Page i covers kPageNumbers numbers from
  // i * kPageNumbers on.
  static constexpr std::uint32_t kPageNumbers = 4096;
  struct Pages {
    std::uint32_t count = 0;
    std::vector<std::pair<std::uint32_t, std::string>> changed = {};
  };
  enum class Scope : std::uint8_t { kChanged, kAll };
  Pages checkpoint(Scope scope);
  // Restores pages in order, into an empty object. Restored pages do not count as changed.
  Status restore(const SignaturePage& page);

 private:
  explicit NearDuplicates(TextSketcher sketcher);
  std::optional<std::size_t> slot_of(std::uint32_t number) const;
  std::span<const std::uint32_t> keys_of_slot(std::size_t slot) const {
    return std::span(keys_).subspan(slot * sketcher_.bands(), sketcher_.bands());
  }
  void add_entry(std::uint32_t entry);
  void grow();
  void compact();
  void mark_dirty(std::uint32_t number);

  TextSketcher sketcher_;
  // Slots are in the order of numbers.
  std::vector<std::uint32_t> numbers_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> keys_;   // an entry is a slot and a band
  std::vector<std::uint32_t> next_;   // by entry: the next of the same bucket, plus 1
  std::vector<std::uint32_t> heads_;  // by bucket: the newest entry, plus 1
  std::size_t live_ = 0;
  std::vector<bool> dirty_;  // pages
};

}  // namespace kin::index
