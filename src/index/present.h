// Shows hits that were found earlier: on this view, on an older one, or on another shard.
// read_documents() of doc_identity.h reads the documents; the functions here make what is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/text/query.h"
#include "index/text/snippet.h"
#include "index/view.h"

namespace kin::index {

// A part of a document's title or text.
struct HitSnippet {
  std::string field = {};             // "title" or "text"
  std::string part = {};              // of the field; a title is whole
  std::uint32_t begin = 0;            // offset of the part in the field, in bytes
  bool ends_field = true;             // whether nothing follows it
  std::vector<TextRange> marks = {};  // byte ranges of the part that match the query, in order
};

struct SnippetOptions {
  std::size_t length = 200;  // longest part in bytes, unless a single word is longer
};

// For each document its title, if it has one, and the part of its text with the most words of the
// query; nothing for a document that is not there. Thread-safe.
Result<std::vector<std::vector<HitSnippet>>> make_snippets(
    const TextOptions& fields, const TextQuery& query,
    std::span<const std::optional<StoredDocument>> documents, const SnippetOptions& options = {});

// Explains the text score of the document; nothing if the query does not match it. `statistics` are
// those of the search that found it; null for the view's own. Thread-safe.
std::optional<TextExplanation> explain_text(const ShardView& view, const TextQuery& query,
                                            const StoredDocument& document,
                                            const TextStatistics* statistics = nullptr);

}  // namespace kin::index
