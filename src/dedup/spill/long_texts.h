// Memory for long texts and records. A thread holds several copies of the text it works on: as it
// was read, as words, as shingles, as a line of the audit log.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "dedup/options.h"

namespace kin::dedup {

// A text up to this length counts as short: every thread has memory for it.
inline constexpr std::uint64_t kShortText = 256 << 10;

// An upper bound of a text's words, or characters, of which shingles are made. Thread-safe.
std::uint64_t text_units(std::string_view text, const sketch::ShingleOptions& shingles);
// An upper bound of the units of a text that have a place in memory while it is cut: bytes have
// none. Thread-safe.
std::uint64_t cut_units(std::string_view text, CutOptions::Unit unit);
// An upper bound of the units in which a run compares a text: of which shingles are made, and which
// may be cut. Thread-safe.
std::uint64_t text_units(std::string_view text, const DedupOptions& options);

// The length of a text for memory estimates: its bytes, or more if its words are so short that
// their hashes take more. Thread-safe.
std::uint64_t text_weight(std::string_view text, const DedupOptions& options);
// The same for a text with this many bytes and units.
std::uint64_t text_weight(std::uint64_t bytes, std::uint64_t units);

// Bytes that a thread holds per unit of a text's weight, while it sketches it or finds its units
// to cut, and while it compares it with another and writes both to the audit log.
std::uint64_t sketch_copies(const DedupOptions& options);
inline constexpr std::uint64_t kCompareCopies = 8;
// The same for a record, of which all but the text is only read.
inline constexpr std::uint64_t kRecordCopies = 2;

// A limited number of bytes that threads take for long texts and give back.
// Thread-safe.
class TextRoom {
 public:
  explicit TextRoom(std::uint64_t bytes) : bytes_(bytes), free_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }

  // Waits until that many are free. A request above the total counts as the total.
  class Share {
   public:
    Share(TextRoom& room, std::uint64_t bytes);
    ~Share();
    Share(const Share&) = delete;

   private:
    TextRoom& room_;
    std::uint64_t bytes_;
  };

 private:
  const std::uint64_t bytes_;
  std::mutex mutex_;  // guards free_
  std::condition_variable given_back_;
  std::uint64_t free_;
};

}  // namespace kin::dedup
