// XML from strangers: any charset, not always well formed, never trusted.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pugi {
class xml_document;  // NOLINT: the library's name
}

namespace kin::stories {

struct LoadedXml {
  std::unique_ptr<pugi::xml_document> document;
  std::string charset;
  std::string mended;  // what was wrong with the text and has been put right; empty if nothing
};

struct XmlSource {
  std::string_view bytes;
  std::string_view charset = {};  // what the transport says; may be empty
};

// The document in `source`. Document type declarations are skipped and their entities never
// expanded, nothing outside the bytes is read, control characters become spaces, and what is not
// well formed is read as far as it makes sense. An error names the line and column where sense
// ended. Nesting deeper than 256, more than 100 attributes of an element and more than a million
// tags are errors. Thread-safe.
Result<LoadedXml> load_xml(XmlSource source);

// `utf8` as well-formed XML: stray '<' escaped, tags closed where their parents close, attributes
// quoted, and an item or entry that the end of the text cuts off left out. Takes time linear in the
// text (times the depth of nesting). Thread-safe.
std::string mend_xml(std::string_view utf8);

}  // namespace kin::stories
