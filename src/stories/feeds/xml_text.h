// Loads untrusted XML of any charset and repairs it if it is not well formed.
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
  std::string mended;  // the first error of a document that was repaired; else empty
};

struct XmlSource {
  std::string_view bytes;
  std::string_view charset = {};  // from the Content-Type; may be empty
};

// Parses `source`. Document type declarations are skipped, entities are never expanded, and nothing
// outside the bytes is read. Control characters become spaces. Documents that are not well formed
// are repaired; an error names the line and column of the first fault if that fails. Limits: 256
// levels of nesting, 100 attributes in an element, a million tags. Thread-safe.
Result<LoadedXml> load_xml(XmlSource source);

// Makes `utf8` well formed: escapes a stray '<', closes open tags where their parents close, quotes
// attributes, and removes an item or entry that is cut off by the end of the text. Takes time
// linear in the text, times the depth of nesting. Thread-safe.
std::string mend_xml(std::string_view utf8);

}  // namespace kin::stories
