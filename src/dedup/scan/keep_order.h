// Decides which of two duplicates stays.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "dedup/options.h"
#include "dedup/spill/record_table.h"

namespace kin::dedup {

// A number for comparison: the nearest double, and an integer's difference from it.
struct Comparable {
  double value = 0;
  std::int16_t rest = 0;
  friend auto operator<=>(const Comparable&, const Comparable&) = default;
};

// "12.5", "9007199254740993", "2024-03-10", "2024-03-10T09:30:00.5Z", "2024-03-10 09:30:00+02:00"
// (moments as seconds since 1970). Nothing if `text` is neither a number nor a moment.
std::optional<Comparable> parse_comparable(std::string_view text);

// A total order over the records of a run: the better one stays; equal ones are ordered by row.
// Values are set while scanning, from several threads; comparing is thread-safe after that.
class KeepOrder {
 public:
  explicit KeepOrder(KeepPolicy policy) : policy_(std::move(policy)) {}

  const KeepPolicy& policy() const { return policy_; }

  // The record's text, in bytes; used by `longest`.
  void set_length(RecordId id, std::size_t length);
  // The value of the policy's column; nothing if it is null, which loses to every value. False if
  // the value is neither a number nor a time; it then counts as null.
  bool set_value(RecordId id, std::optional<std::string_view> value);

  // The first `count` records are references: better than all others, the earlier of them first.
  void set_references(std::size_t count) { references_ = count; }
  bool is_reference(RecordId id) const { return row_number(id) < references_; }

  bool better(RecordId a, RecordId b) const {
    if (is_reference(a) || is_reference(b)) return a < b;
    if (policy_.kind == KeepPolicy::Kind::kFirst) return a < b;
    const std::uint64_t key_a = keys_.get(a);
    const std::uint64_t key_b = keys_.get(b);
    if (key_a != key_b) return key_a > key_b;
    const std::int16_t rest_a = rests_.get(a);
    const std::int16_t rest_b = rests_.get(b);
    return rest_a != rest_b ? rest_a > rest_b : a < b;
  }

  // Encodes the values of the first `records` for a checkpoint, and restores them. Empty if the
  // policy needs none.
  std::string encode(std::size_t records) const;
  void decode(std::string_view bytes);

 private:
  KeepPolicy policy_;
  std::size_t references_ = 0;
  RecordTable<std::uint64_t> keys_;  // greater is better; 0 for a record without a value
  RecordTable<std::int16_t> rests_;  // of integers that a double cannot hold; greater is better
};

}  // namespace kin::dedup
