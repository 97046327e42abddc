#include "search/answer.h"

#include <array>

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
  return json.end().take();
}

std::string plain_text(const MarkedText& text) {
  std::string plain;
  for (const MarkedPart& part : text) plain += part.text;
  return plain;
}

}  // namespace kin::search
