// Lists of subscriptions, as feed readers exchange them: OPML 1.0 and 2.0.
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
  std::vector<std::string> folders;  // the outermost first; empty at the top
  friend bool operator==(const OpmlFeed&, const OpmlFeed&) = default;
};

struct Opml {
  std::string title;
  std::vector<OpmlFeed> feeds;  // in the document's order; a feed in two folders is there twice
  std::size_t left_out = 0;  // outlines with an address that is no web address, or beyond the limit
};

// At most so many feeds are read, and so deep are folders told apart; deeper ones count as the
// last.
inline constexpr std::size_t kMostOpmlFeeds = 10'000;
inline constexpr std::size_t kDeepestFolder = 16;

// The feeds of an OPML document, in any charset, mended where it is broken. Thread-safe.
Result<Opml> parse_opml(std::string_view bytes);

// An OPML 2.0 document in UTF-8 that parse_opml() reads back as it was: feeds of one folder stand
// together, in their order, folders in the order of their first feed. Thread-safe.
std::string write_opml(const Opml& opml);

}  // namespace kin::stories
