// The answer of an index, ready to be shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "data/json_value.h"
#include "index/query.h"
#include "search/document.h"

namespace kin::search {

// A text in parts; the parts that match the question are marked.
struct MarkedPart {
  std::string text = {};
  bool mark = false;
  friend bool operator==(const MarkedPart&, const MarkedPart&) = default;
};
using MarkedText = std::vector<MarkedPart>;

struct AnswerEdge {
  std::string from = {};
  std::string to = {};
  std::string name = {};
  double weight = 1;
};

struct AnswerTrace {
  std::string by = {};
  std::uint32_t hops = 0;
  std::vector<AnswerEdge> edges = {};
};

struct AnswerTerm {
  std::string term = {};
  double score = 0;
  std::uint32_t frequency = 0;  // occurrences in the document
  std::uint64_t documents = 0;
};
struct AnswerReason {
  std::vector<AnswerTerm> terms = {};
  std::optional<double> similarity = {};
};

struct AnswerHit {
  index::DocKind kind = index::DocKind::kEntity;
  double score = 0;
  Document document = {};  // the entity, without links; for an edge the one it leaves
  std::string to = {};     // of an edge or its fragment
  std::string name = {};   // of an edge or its fragment
  MarkedText title = {};
  MarkedText snippet = {};
  std::vector<index::LegScore> legs = {};
  std::optional<AnswerTrace> trace = {};
  std::optional<AnswerReason> why = {};
};

struct Answer {
  std::vector<AnswerHit> hits = {};
  std::optional<std::uint64_t> count = {};
  std::vector<index::FacetCounts> facets = {};
  std::string mode = {};  // how it was searched
  double milliseconds = 0;
  // How old the state may be that answered; nothing: it is the newest.
  std::optional<std::chrono::milliseconds> behind = {};
};

std::string_view name_of(index::LegKind leg);

// An Answer of docs/api.md.
std::string to_json(const Answer& answer);
// What to_json() wrote, without attributes and times of documents. Fields that are missing are
// empty. Thread-safe.
Answer answer_of(const data::JsonValue& json);
void write_hit(JsonWriter& json, const AnswerHit& hit);
void write_edge(JsonWriter& json, const AnswerEdge& edge);
// "behind_seconds" of docs/api.md, unless the state is the newest.
void write_behind(JsonWriter& json, std::optional<std::chrono::milliseconds> behind);

// The text without its marks.
std::string plain_text(const MarkedText& text);

}  // namespace kin::search
