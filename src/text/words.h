// The words of a text: maximal runs of letters, marks and numbers (presets kStandard and
// kAggressive) or of anything but white space (kNone and kLight). A script written without spaces
// (Han, kana, Thai, Lao, Khmer, Burmese and their kin) has no such runs: there each character,
// with the marks that follow it, is a word by itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_buffer.h"
#include "text/normalize.h"

namespace kin::text {

// Replaces `words` by the words of `utf8` as it is, in order, as views of it: normalise first to
// get the words a shingle is made of. Thread-safe.
void split_words(std::string_view utf8, Normalization preset, std::vector<std::string_view>& words);

// Rewrites a text so that its words can be found byte by byte: bytes >= 0x80 belong to words, and
// ASCII separators bound every word. ASCII is not changed; the reader lowers it and splits at it:
// at everything but letters and digits for kStandard and kAggressive, at white space for kNone and
// kLight, and as base_of() does for others, whose texts are prepared first. One thread only.
class WordSpacer {
 public:
  explicit WordSpacer(Normalization preset) : preset_(preset) {}

  // Valid until the next call, and as long as `utf8`, which it may be a view of.
  std::string_view space(std::string_view utf8);

 private:
  Normalization preset_;
  std::string prepared_;
  ByteBuffer spaced_;
};

}  // namespace kin::text
