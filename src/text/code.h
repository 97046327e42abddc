// Source code as tokens, for comparing programs: comments and white space do not count, everything
// else does. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kin::text {

// How a language writes comments.
enum class Comments : std::uint8_t {
  kNone,    // nothing is taken for a comment
  kSlash,   // C, C++, Java, JavaScript, Go, Rust, …: // to the end of the line, /* … */
  kHash,    // Python, shell, Ruby, Perl, R, YAML, …: # to the end of the line
  kDash,    // SQL, Lua, Haskell, Ada: -- to the end of the line; /* … */; --[[ … ]] as in Lua
  kMarkup,  // HTML, XML: <!-- … -->
};

// Guesses the language's comments from how lines begin and end. kNone if nothing indicates one.
Comments guess_comments(std::string_view utf8);

// Replaces `out` by the tokens of `utf8`, separated by spaces: names, numbers and runs of other
// letters; whole strings; every other character by itself. Comments are left out, but not comment
// marks inside strings. Strings end on their line, except `…` and Python's triple quotes. `utf8`
// must not be a view of `out`.
void code_tokens(std::string_view utf8, Comments comments, std::string& out);

}  // namespace kin::text
