// Turns a text leg into a query of the text index. All functions are thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "index/query.h"
#include "index/text/query.h"

namespace kin::index {

// kInvalidArgument for a syntax error, whose message says where, and for a distance above 2.
Result<TextQuery> parse_leg(const TextLeg& leg, const TextOptions& options);

// The query, also matching words that differ from its own by up to `distance` letters. Its own
// words count twice, so that they rank before similar ones. Words of up to two letters match
// exactly, words of up to five letters differ by at most one. Excluded words stay as they are.
TextQuery make_fuzzy(TextQuery query, int distance, const TextOptions& options);

// The query without words such as "the". Words that must be there, phrases and patterns stay.
TextQuery without_common(TextQuery query, const std::string& language);

// The plain words that the leg asks for, without those that it excludes.
Result<std::string> extract_words(const TextLeg& leg, const TextOptions& options);

}  // namespace kin::index
