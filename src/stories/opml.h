// OPML 1.0 and 2.0: the format in which feed readers exchange lists of feeds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::stories {

struct OpmlFeed {
  std::string url;                   // http or https
  std::string title;                 // plain text; may be empty
  std::string site;                  // http or https; may be empty
  std::vector<std::string> folders;  // the outermost first; empty at the top level
  friend bool operator==(const OpmlFeed&, const OpmlFeed&) = default;
};

struct Opml {
  std::string title;
  std::vector<OpmlFeed> feeds;  // in document order; a feed in two folders appears twice
  std::size_t left_out = 0;     // feeds beyond the limit, or without an http or https address
};

// Limits of parse_opml(). Folders below the deepest level are merged into it.
inline constexpr std::size_t kMostOpmlFeeds = 10'000;
inline constexpr std::size_t kDeepestFolder = 16;

// Reads an OPML document in any charset. Broken XML is repaired as in load_xml(). Thread-safe.
Result<Opml> parse_opml(std::string_view bytes);

// An OPML 2.0 document in UTF-8 that parse_opml() reads back. Feeds of one folder are written
// together in their order, folders in the order of their first feed. Thread-safe.
std::string write_opml(const Opml& opml);

}  // namespace kin::stories
