// The bytes of one file of a simulated disk: what programs see, and what the device has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace kin {

// The fate of unsynced bytes at a power cut.
enum class UnsyncedBytes {
  kLost,
  kKept,
  kPrefix,    // the bytes written first are kept, up to any byte
  kTorn,      // the bytes written first are kept, up to the end of a sector
  kShuffled,  // each sector by itself: later ones without earlier ones, zeros between
  kAny,       // one of the above, drawn for each file
};

// Thread-compatible.
class SimulatedContents {
 public:
  static constexpr std::uint64_t kSector = 512;

  SimulatedContents() = default;
  // Contents that are on the device.
  explicit SimulatedContents(std::string bytes) : seen_(bytes), device_(std::move(bytes)) {}

  // The bytes that a program reads.
  const std::string& bytes() const { return seen_; }

  void append(std::string_view bytes) { write_at(seen_.size(), bytes); }
  void write_at(std::uint64_t offset, std::string_view bytes);
  void truncate(std::uint64_t size);
  void sync();
  // A failed sync, as kernels do it: unsynced bytes count as clean, so no later sync writes them,
  // and they can be read until the power goes. Only a sector written again is saved.
  void fail_sync();

  // The bytes after the power went and came back.
  std::string after_power_cut(UnsyncedBytes unsynced, Random& random) const;

 private:
  // The file got the size `base`, and then `bytes` were written at `offset`. The sectors from the
  // one at `from` up to the end of `bytes` changed.
  struct Change {
    std::uint64_t from;
    std::uint64_t base;
    std::uint64_t offset;
    std::string bytes;

    std::uint64_t end() const { return offset + bytes.size(); }
    std::uint64_t size() const { return std::max(base, end()); }
    // Applies the first `count` of `bytes`.
    void apply(std::string& image, std::uint64_t count) const;
    void apply(std::string& image) const { apply(image, bytes.size()); }
  };

  std::string kept() const;
  std::string kept_prefix(std::uint64_t unit, Random& random) const;
  std::string shuffled(Random& random) const;

  std::string seen_;
  std::string device_;
  std::vector<Change> unsynced_;
};

}  // namespace kin
