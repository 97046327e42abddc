// Counts the records of each source, and those that are removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "dedup/spill/record_table.h"

namespace kin::dedup {

// The source of every record, by the value of a column. At most kMost different ones: a column with
// more values is not treated as a source. Adding is thread-safe.
class Sources {
 public:
  static constexpr std::size_t kMost = 10'000;

  struct Count {
    std::string name;
    std::uint64_t documents = 0;
    std::uint64_t removed = 0;
    std::uint64_t seen = 0;
  };

  void add(RecordId id, std::string_view source);
  void remove(RecordId id);
  // Counts a record that was removed because its id was seen before.
  void skip(RecordId id);
  // All sources by name; empty if there were too many.
  std::vector<Count> counts() const;

  // For a checkpoint of the first `records`, and back. False if the bytes are not valid.
  std::string encode(std::size_t records) const;
  bool decode(std::string_view bytes);

 private:
  std::uint16_t number_of(std::string_view source);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::uint16_t> numbers_;
  std::vector<Count> counts_;
  std::atomic<bool> given_up_{false};
  RecordTable<std::uint16_t> of_record_;  // 0: none
};

}  // namespace kin::dedup
