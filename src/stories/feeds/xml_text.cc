#include "stories/feeds/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <pugixml.hpp>

#include "text/charset.h"

namespace kin::stories {
namespace {

constexpr int kDeepest = 256;
// Larger documents would take too much memory, or time: namespaces are looked up in the attributes.
constexpr std::ptrdiff_t kMostAttributes = 100;
constexpr std::ptrdiff_t kMostTags = 1'000'000;
// White space between elements matters in XHTML content.
constexpr unsigned kFlags = pugi::parse_default | pugi::parse_ws_pcdata;

std::string place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  // npos + 1 is 0: the first line begins at the start of the text.
  const std::size_t column = before.size() - (before.rfind('\n') + 1);
  return fmt::format("line {}, column {}", lines + 1, column + 1);
}

void blank_controls(std::string& text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // XML forbids them, and one would make the whole document ill-formed.
    if (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') c = ' ';
  }
}

// The limit that the document exceeds; empty if none.
std::string excess_of(const pugi::xml_document& document) {
  struct Walker : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node& node) override {
      const auto attributes = std::distance(node.attributes_begin(), node.attributes_end());
      if (depth() >= kDeepest)
        excess = fmt::format("the XML is nested more than {} deep", kDeepest);
      if (attributes > kMostAttributes)
        excess = fmt::format("an element of the XML has more than {} attributes", kMostAttributes);
      return excess.empty();
    }
    std::string excess;
  } walker;
  // traverse() is not const, though this walker changes nothing.
  const_cast<pugi::xml_document&>(document).traverse(walker);
  return walker.excess;
}

pugi::xml_parse_result parse(pugi::xml_document& document, std::string_view text) {
  return document.load_buffer(text.data(), text.size(), kFlags, pugi::encoding_utf8);
}

}  // namespace

Result<LoadedXml> load_xml(XmlSource source) {
  const std::string declared = text::xml_charset(source.bytes).value_or("");
  text::DecodedText decoded =
      text::decode_text(source.bytes, {.transport = source.charset, .document = declared});
  blank_controls(decoded.utf8);
  // Text before the first tag is not XML: blank lines, or warnings of the program that made it.
  const std::size_t start = decoded.utf8.find('<');
  if (start == std::string::npos)
    return Error{Code::kInvalidArgument, "line 1, column 1: this is not XML, it has no tags"};
  const std::string_view text = std::string_view(decoded.utf8).substr(start);
  // Before parsing: a tree takes many times the memory of its text.
  if (std::count(text.begin(), text.end(), '<') > kMostTags)
    return Error{Code::kResourceExhausted, fmt::format("the XML has more than {} tags", kMostTags)};
  LoadedXml loaded{std::make_unique<pugi::xml_document>(), decoded.charset, ""};
  const pugi::xml_parse_result first = parse(*loaded.document, text);
  if (!first) {
    loaded.mended = fmt::format(
        "{}: {}", place_of(decoded.utf8, start + static_cast<std::size_t>(first.offset)),
        first.description());
    // Only broken documents take the time for a repair.
    const pugi::xml_parse_result second = parse(*loaded.document, mend_xml(text));
    if (!second || !loaded.document->document_element())
      return Error{Code::kInvalidArgument, fmt::format("the XML is broken at {}", loaded.mended)};
  }
  const std::string excess = excess_of(*loaded.document);
  if (!excess.empty()) return Error{Code::kInvalidArgument, excess};
  return loaded;
}

}  // namespace kin::stories
