#include "search/answer.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kin::search {
namespace {

void write_marked(JsonWriter& json, std::string_view name, const MarkedText& text) {
  json.key(name).begin_array();
  for (const MarkedPart& part : text) {
    json.begin_object().field("text", part.text);
    if (part.mark) json.field("mark", true);
    json.end();
  }
  json.end();
}

void write_legs(JsonWriter& json, const std::vector<index::LegScore>& legs) {
  json.key("legs").begin_array();
  for (const index::LegScore& leg : legs) {
    json.begin_object().field("leg", name_of(leg.leg)).field("score", leg.score);
    // A leg that only scored the hit did not rank it.
    json.field("share", leg.share)
        .field("rank", leg.rank == 0 ? std::nullopt : std::optional(leg.rank))
        .end();
  }
  json.end();
}

void write_trace(JsonWriter& json, const std::optional<AnswerTrace>& trace) {
  json.key("trace");
  if (!trace) {
    json.null();
    return;
  }
  json.begin_object().field("by", trace->by).field("hops", trace->hops);
  json.key("edges").begin_array();
  for (const AnswerEdge& edge : trace->edges) write_edge(json, edge);
  json.end().end();
}

void write_reason(JsonWriter& json, const AnswerReason& why) {
  json.key("why").begin_object().key("terms").begin_array();
  for (const AnswerTerm& term : why.terms) {
    json.begin_object().field("term", term.term).field("score", term.score);
    json.field("frequency", term.frequency).field("documents", term.documents).end();
  }
  json.end().field("similarity", why.similarity).end();
}

void write_attributes(JsonWriter& json, const Document& document) {
  json.key("attributes").begin_object();
  for (const index::Attribute& attribute : document.attributes) {
    json.key(attribute.name);
    std::visit([&](const auto& value) { json.value(value); }, attribute.value);
  }
  json.end();
}

void write_facets(JsonWriter& json, const std::vector<index::FacetCounts>& facets) {
  json.key("facets").begin_object();
  for (const index::FacetCounts& facet : facets) {
    json.key(facet.name).begin_array();
    for (const index::FacetCount& value : facet.values)
      json.begin_object().field("value", value.value).field("count", value.count).end();
    json.end();
  }
  json.end();
}

}  // namespace

std::string_view name_of(index::LegKind leg) {
  // In the order of LegKind.
  constexpr std::array<std::string_view, 3> kNames{"text", "vector", "graph"};
  return kNames[static_cast<std::size_t>(leg)];
}

void write_edge(JsonWriter& json, const AnswerEdge& edge) {
  json.begin_object().field("from", edge.from).field("to", edge.to).field("name", edge.name);
  json.field("weight", edge.weight).end();
}

void write_hit(JsonWriter& json, const AnswerHit& hit) {
  const Document& document = hit.document;
  json.begin_object().field("id", document.id).field("kind", name_of(hit.kind));
  json.field("score", hit.score);
  // Only edges and their fragments have a name.
  if (!hit.name.empty()) json.field("to", hit.to).field("name", hit.name);
  write_marked(json, "title", hit.title);
  write_marked(json, "snippet", hit.snippet);
  json.field("tags", document.tags).field("source", document.source);
  // kBeginning, a moment before all others, is written as null.
  write_moment(json, "published", document.published.value_or(index::kBeginning));
  write_moment(json, "valid_from", document.valid.from);
  write_moment(json, "valid_until", document.valid.until);
  write_attributes(json, document);
  write_legs(json, hit.legs);
  write_trace(json, hit.trace);
  if (hit.why) write_reason(json, *hit.why);
  json.end();
}

std::string to_json(const Answer& answer) {
  JsonWriter json;
  json.begin_object().key("hits").begin_array();
  for (const AnswerHit& hit : answer.hits) write_hit(json, hit);
  json.end().field("count", answer.count);
  write_facets(json, answer.facets);
  json.field("mode", answer.mode).field("milliseconds", answer.milliseconds);
  write_behind(json, answer.behind);
  return json.end().take();
}

void write_behind(JsonWriter& json, std::optional<std::chrono::milliseconds> behind) {
  if (behind) json.field("behind_seconds", std::chrono::duration<double>(*behind).count());
}

namespace {

using data::JsonValue;

double number_in(const JsonValue& json) {
  return json.number() == nullptr ? 0 : *json.number();
}
template <typename Whole>
Whole whole_in(const JsonValue& json) {
  // Any peer may have written it.
  const double number = number_in(json);
  const bool fits = number >= 0 && number <= static_cast<double>(1ULL << 53);
  return fits ? static_cast<Whole>(number) : Whole{};
}
std::string text_in(const JsonValue& json) {
  return std::string(json.text());
}

MarkedText marked_in(const JsonValue& json) {
  MarkedText text;
  for (const JsonValue& part : json.items())
    text.push_back({.text = text_in(part["text"]), .mark = part["mark"].boolean() != nullptr});
  return text;
}

std::vector<index::LegScore> legs_in(const JsonValue& json) {
  std::vector<index::LegScore> legs;
  for (const JsonValue& one : json.items()) {
    index::LegScore leg{.score = number_in(one["score"]),
                        .share = number_in(one["share"]),
                        .rank = whole_in<std::uint32_t>(one["rank"])};
    for (const auto kind : {index::LegKind::kVector, index::LegKind::kGraph})
      if (name_of(kind) == one["leg"].text()) leg.leg = kind;
    legs.push_back(leg);
  }
  return legs;
}

std::optional<AnswerTrace> trace_in(const JsonValue& json) {
  if (json.is_null()) return {};
  AnswerTrace trace{.by = text_in(json["by"]), .hops = whole_in<std::uint32_t>(json["hops"])};
  for (const JsonValue& edge : json["edges"].items())
    trace.edges.push_back({.from = text_in(edge["from"]),
                           .to = text_in(edge["to"]),
                           .name = text_in(edge["name"]),
                           .weight = number_in(edge["weight"])});
  return trace;
}

std::optional<AnswerReason> reason_in(const JsonValue& json) {
  if (json.is_null()) return {};
  AnswerReason why;
  for (const JsonValue& term : json["terms"].items())
    why.terms.push_back({.term = text_in(term["term"]),
                         .score = number_in(term["score"]),
                         .frequency = whole_in<std::uint32_t>(term["frequency"]),
                         .documents = whole_in<std::uint64_t>(term["documents"])});
  if (const double* similarity = json["similarity"].number()) why.similarity = *similarity;
  return why;
}

AnswerHit hit_in(const JsonValue& json) {
  AnswerHit hit{.score = number_in(json["score"]),
                .to = text_in(json["to"]),
                .name = text_in(json["name"]),
                .title = marked_in(json["title"]),
                .snippet = marked_in(json["snippet"]),
                .legs = legs_in(json["legs"]),
                .trace = trace_in(json["trace"]),
                .why = reason_in(json["why"])};
  using index::DocKind;
  for (const auto kind : {DocKind::kEdge, DocKind::kEntityFragment, DocKind::kEdgeFragment})
    if (index::name_of(kind) == json["kind"].text()) hit.kind = kind;
  hit.document.id = text_in(json["id"]);
  hit.document.source = text_in(json["source"]);
  for (const JsonValue& tag : json["tags"].items()) hit.document.tags.push_back(text_in(tag));
  return hit;
}

}  // namespace

Answer answer_of(const JsonValue& json) {
  Answer answer{.mode = text_in(json["mode"]), .milliseconds = number_in(json["milliseconds"])};
  for (const JsonValue& hit : json["hits"].items()) answer.hits.push_back(hit_in(hit));
  if (const double* behind = json["behind_seconds"].number(); behind != nullptr && *behind >= 0)
    answer.behind = std::chrono::milliseconds{std::llround(std::min(*behind, 1e9) * 1'000)};
  if (json["count"].number() != nullptr) answer.count = whole_in<std::uint64_t>(json["count"]);
  if (const auto* facets = json["facets"].object()) {
    for (const auto& [name, values] : *facets) {
      index::FacetCounts& facet = answer.facets.emplace_back();
      facet.name = name;
      for (const JsonValue& value : values.items())
        facet.values.push_back(
            {.value = text_in(value["value"]), .count = whole_in<std::uint64_t>(value["count"])});
    }
  }
  return answer;
}

std::string plain_text(const MarkedText& text) {
  std::string plain;
  for (const MarkedPart& part : text) plain += part.text;
  return plain;
}

}  // namespace kin::search
