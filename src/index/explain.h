// Why does it match, and which words of it show that?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/text/snippet.h"
#include "index/view.h"

namespace kin::index {

struct Nearness {
  std::string space = {};
  Distance distance = Distance::kCosine;
  double similarity = 0;  // the cosine, the product, or 1 / (1 + distance)
};

struct HitExplanation {
  std::uint32_t rank = 0;  // from 1 among the hits of all pages; 0: the search does not find it
  double score = 0;        // what the search gives it
  std::vector<LegScore> legs = {};
  std::optional<GraphTrace> trace = {};
  // Also of what is not found, because others were better.
  std::optional<TextExplanation> text = {};  // nothing without a text leg, or if no word matches
  std::optional<Nearness> vector = {};       // nothing without a vector leg, or without a vector
};

// A query of a single leg ranks no deeper than its offset and k go. kNotFound if there is no such
// document in the view; else the errors of search(). Thread-safe.
Result<HitExplanation> explain(const ShardView& view, const ShardQuery& query, DocNumber number);

// A piece of what a document says.
struct HitSnippet {
  std::string field = {};             // "title" or "text"
  std::string part = {};              // of the field; a title is whole
  std::uint32_t begin = 0;            // where the part begins in the field, in bytes
  bool ends_field = true;             // whether nothing follows it
  std::vector<TextRange> marks = {};  // bytes of the part that the query asks for, in order
};

struct SnippetOptions {
  std::size_t length = 200;  // of a part, in bytes, unless a single word is longer
};

// What to show of each document: its title, if it has one, and the part of its text with the most
// words of the query; what words a vector leg was made of are marked where there is no text leg.
// Nothing for a number that is not in the view. Thread-safe.
Result<std::vector<std::vector<HitSnippet>>> snippets(const ShardView& view,
                                                      const ShardQuery& query,
                                                      std::span<const DocNumber> numbers,
                                                      const SnippetOptions& options = {});

}  // namespace kin::index
