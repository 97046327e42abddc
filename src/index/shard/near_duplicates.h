// Which entities say almost the same? The keys of their MinHash bands, in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"

namespace kin::index {

// What a text is compared by. Texts shorter than a shingle are one shingle, so they are near only
// what has the same words; a text without words is near nothing.
struct TextSketch {
  std::vector<std::uint64_t> shingles = {};  // a set, in order
  std::vector<std::uint32_t> keys = {};      // one a band; empty for a text without words
};

// A page of keys as bytes (docs/formats.md), and back.
struct SignaturePage {
  std::uint32_t bands = 0;
  std::vector<std::uint32_t> numbers = {};  // ascending
  std::vector<std::uint32_t> keys = {};     // `bands` of each number
  friend bool operator==(const SignaturePage&, const SignaturePage&) = default;
};
std::string encode(const SignaturePage& page);
Result<SignaturePage> decode_signature_page(std::string_view bytes);

// Numbers of documents under the keys of their bands. Candidates are to be compared by their
// shingles: similar ones are missed once in a hundred at the threshold, less above it. Numbers come
// in ascending order. Thread-compatible.
class NearDuplicates {
 public:
  // kInvalidArgument for a threshold that 128 hashes cannot serve.
  static Result<NearDuplicates> create(double threshold);

  double threshold() const { return threshold_; }
  std::uint32_t bands() const { return banding_.bands; }
  std::uint64_t fingerprint() const;
  // What decides of an entity: its text, or its title if it has none. Thread-safe.
  TextSketch sketch(const Entity& entity) const;

  // Nothing if a number as high is there already, or the keys are none.
  void learn(std::uint32_t number, std::span<const std::uint32_t> keys);
  void forget(std::uint32_t number);
  // Those that share a band, the most bands first; at most kMostCandidates.
  static constexpr std::size_t kMostCandidates = 64;
  std::vector<std::uint32_t> candidates(std::span<const std::uint32_t> keys) const;

  std::size_t size() const { return live_; }
  std::size_t bytes() const;
  // Of a number that is there; empty if it is not.
  std::span<const std::uint32_t> keys(std::uint32_t number) const;
  std::vector<std::uint32_t> numbers() const;

  // Pages of kPageNumbers numbers each: those that changed since the last call, or all. Page i
  // covers numbers from i * kPageNumbers on.
  static constexpr std::uint32_t kPageNumbers = 4096;
  struct Pages {
    std::uint32_t count = 0;
    std::vector<std::pair<std::uint32_t, std::string>> changed = {};
  };
  enum class Scope : std::uint8_t { kChanged, kAll };
  Pages checkpoint(Scope scope);
  // Pages in order, into an empty one; learn() afterwards makes no page dirty that restore()
  // filled.
  Status restore(const SignaturePage& page);

 private:
  NearDuplicates(double threshold, sketch::Banding banding);
  std::optional<std::size_t> slot_of(std::uint32_t number) const;
  void add_entry(std::uint32_t entry);
  void grow();
  void compact();
  void mark_dirty(std::uint32_t number);

  double threshold_;
  sketch::Banding banding_;
  sketch::MinHasher hasher_;
  // By slot, in the order of numbers.
  std::vector<std::uint32_t> numbers_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> keys_;   // an entry is a slot and a band
  std::vector<std::uint32_t> next_;   // by entry: the next of the same bucket, plus 1
  std::vector<std::uint32_t> heads_;  // by bucket: the newest entry, plus 1
  std::size_t live_ = 0;
  std::vector<bool> dirty_;  // pages
};

}  // namespace kin::index
