// Long texts and records. A text is held several times by the thread that works on it: as it was
// read, as words, as shingles, as a line of the audit log.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "dedup/options.h"

namespace kin::dedup {

// A text up to this length counts as short: every thread has room for it.
inline constexpr std::uint64_t kShortText = 256 << 10;

// Not fewer than the words of a text, or its characters, of which shingles are made. Thread-safe.
std::uint64_t text_units(std::string_view text, const sketch::ShingleOptions& shingles);

// The length of a text as the memory for it goes: its bytes, or more where its words are so short
// that their hashes take more than they do. Thread-safe.
std::uint64_t text_weight(std::string_view text, const DedupOptions& options);
// The same of a text with so many bytes and units.
std::uint64_t text_weight(std::uint64_t bytes, std::uint64_t units);

// How many bytes a thread holds for each of a text's weight, while it sketches it, and while it
// compares it with another and writes both to the audit log.
std::uint64_t sketch_copies(const DedupOptions& options);
inline constexpr std::uint64_t kCompareCopies = 8;
// And of a record, of which all but the text is only read.
inline constexpr std::uint64_t kRecordCopies = 2;

// Bytes that threads take for long texts and give back, no more at once than there are.
// Thread-safe.
class TextRoom {
 public:
  explicit TextRoom(std::uint64_t bytes) : bytes_(bytes), free_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }

  // Waits until there are so many. More than there are altogether count as all of them.
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
  std::mutex mutex_;  // of free_
  std::condition_variable given_back_;
  std::uint64_t free_;
};

}  // namespace kin::dedup
