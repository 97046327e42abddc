// Bytes of any charset to UTF-8. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kin::text {

// Declared charsets of some bytes, by name; empty if none is declared.
struct CharsetHints {
  std::string_view transport = {};  // of the HTTP header
  std::string_view document = {};   // of the XML declaration or the page's <meta>
};

struct DecodedText {
  std::string utf8;     // always valid
  std::string charset;  // the charset used, in lower case: "utf-8", "windows-1252", …
  bool mended = false;  // some bytes did not belong to the charset
};

// Converts `bytes` to UTF-8. The charset is that of the byte order mark; else the one the transport
// declares; else the one the document declares; else UTF-8 if the bytes are valid UTF-8; else
// windows-1252. Names mean what they mean in browsers ("iso-8859-1" is windows-1252). Unknown names
// and charsets that are unsafe for untrusted text (UTF-7) are ignored. Text declared as
// windows-1252 that is valid UTF-8 with non-ASCII characters is read as UTF-8, because servers
// often declare windows-1252 wrongly. Ill-formed bytes of UTF-8 are read as windows-1252, one by
// one; those of other charsets become U+FFFD.
DecodedText decode_text(std::string_view bytes, CharsetHints hints = {});

// The character of a byte of windows-1252. The five bytes without one give the control character of
// the same number.
char32_t windows1252_character(std::uint8_t byte);

// The encoding an XML declaration at the start of `bytes` names, if there is one.
std::optional<std::string> xml_charset(std::string_view bytes);

// The charset a <meta> in the first KiB of an HTML page names, if there is one.
std::optional<std::string> html_charset(std::string_view bytes);

}  // namespace kin::text
