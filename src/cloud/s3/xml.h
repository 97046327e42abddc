// The XML that object stores answer with: elements and text. Attributes and comments are ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::cloud {

struct XmlElement {
  std::string name;  // without a namespace prefix
  std::string text;  // of this element, without that of its children
  std::vector<XmlElement> children = {};

  // The first child called `name`; null if there is none.
  const XmlElement* child(std::string_view name) const;
  // Its text; empty if there is none.
  std::string_view text_of(std::string_view name) const;
};

// The root of a document. kDataLoss if it is not well formed, has a document type, or is nested
// deeper than 32 elements. Thread-safe.
Result<XmlElement> parse_xml(std::string_view text);

// Escapes the characters that have a meaning in XML.
std::string xml_escaped(std::string_view text);

}  // namespace kin::cloud
