// A text leg as a query of the text index. All functions are thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "index/query.h"
#include "index/text/query.h"

namespace kin::index {

// kInvalidArgument for syntax errors, which say where, and for a distance that is none.
Result<TextQuery> text_query(const TextLeg& leg, const TextOptions& options);

// The query, with words that may be `distance` letters away from those it asks for. The words
// themselves count twice, so that they go before what is only like them. Short words tolerate
// less: of up to two letters none, of up to five one. What must not be there stays as it is.
TextQuery made_fuzzy(TextQuery query, int distance, const TextOptions& options);

// What it asks for in plain words, without what it asks not to have.
Result<std::string> words_of(const TextLeg& leg, const TextOptions& options);

}  // namespace kin::index
