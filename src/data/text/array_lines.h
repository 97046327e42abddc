// Turns the text of a JSON array into lines, one for each element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace kin::data {

// Works in place on one piece of the file after another, and changes no length: the byte after an
// element becomes a line end; the brackets, commas and spaces between elements become spaces, and
// so do the line ends inside an element. A malformed element is left to the reader of the lines.
// Errors of the array itself (a missing comma or end, something after it) name the byte. One thread
// only.
class ArrayLines {
 public:
  explicit ArrayLines(std::string shown_as) : shown_as_(std::move(shown_as)) {}

  // Continues at byte `offset`, which follows a line end that was written over `last`.
  void go_on(std::uint64_t offset, char last);

  Status turn(char* bytes, std::size_t count);
  // The file ends here.
  Status finish() const;

 private:
  enum class State {
    kBefore,     // the array has not begun
    kFirst,      // behind [: an element or the end
    kElement,    // behind a comma: an element
    kInside,     // in an object, an array or a string
    kScalar,     // in a number or a word
    kBehind,     // the byte behind an element
    kSeparator,  // a comma or the end
    kAfter,      // behind the array
  };

  Status turn_byte(char& c);
  Status between(char& c);
  void inside(char& c);
  // Moves over bytes of a string that mean nothing here. Returns how many.
  std::size_t skip_plain(const char* bytes, std::size_t count) const;
  Error problem(std::string_view what) const;

  std::string shown_as_;
  State state_ = State::kBefore;
  std::uint64_t offset_ = 0;
  std::uint32_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace kin::data
