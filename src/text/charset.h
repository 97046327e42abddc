// Bytes of any charset to UTF-8. All functions are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kin::text {

// What is said about the charset of some bytes, by name; empty where nothing is said.
struct CharsetHints {
  std::string_view transport = {};  // of the HTTP header
  std::string_view document = {};   // of the XML declaration or the page's <meta>
};

struct DecodedText {
  std::string utf8;     // always valid
  std::string charset;  // what the bytes were read as, in lower case: "utf-8", "windows-1252", …
  bool mended = false;  // some bytes did not belong to the charset
};

// Reads `bytes` as what they most likely are: a byte order mark decides; else what the transport
// says, else what the document says; else UTF-8 if that is what they are, else windows-1252. Names
// mean what browsers take them for ("iso-8859-1" is windows-1252). A name that is unknown, or not
// fit for text from strangers (UTF-7 and its kin), counts as not said. Bytes called windows-1252
// that are UTF-8 with something in it besides ASCII are UTF-8: servers say the former of anything.
// Bytes that are no UTF-8 in a text called UTF-8 are read as windows-1252, one by one; what makes
// no sense in another charset becomes U+FFFD.
DecodedText decode_text(std::string_view bytes, CharsetHints hints = {});

// The encoding an XML declaration at the start of `bytes` names, if there is one.
std::optional<std::string> xml_charset(std::string_view bytes);

// The charset a <meta> in the first KiB of an HTML page names, if there is one.
std::optional<std::string> html_charset(std::string_view bytes);

}  // namespace kin::text
