// Readers of the feed formats. They find the fields; parse_feed() checks and completes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/json_value.h"
#include "net/url.h"
#include "stories/feed_parser.h"

namespace pugi {
class xml_document;  // NOLINT: the library's name
}

namespace kin::stories {

// The feed in a document; kInvalidArgument if the document is not a feed. Titles and summaries are
// plain text and addresses absolute, but guids are as written, lengths are not limited and items
// may be empty. `charset` and `mended` are not set. Thread-safe.
Result<Feed> read_xml_feed(const pugi::xml_document& document, const FeedSource& source);
Result<Feed> read_json_feed(const data::JsonValue& document, const FeedSource& source);

// Resolves `reference` against `base` if there is one. Empty if the result is not an http or https
// address.
std::string make_absolute(const std::optional<net::Url>& base, std::string_view reference);

// Sets the date of `item` from the text of a feed. Dates that cannot be read, or are before 1971,
// count as not given; dates after `now` become `now`.
void set_date(FeedItem& item, std::string_view text, Time now);

}  // namespace kin::stories
