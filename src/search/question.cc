#include "search/question.h"

#include <fmt/format.h>

#include <map>

#include "base/json_writer.h"
#include "data/json_fields.h"
#include "search/document.h"

namespace kin::search {
namespace {

using data::JsonChoice;
using data::JsonFields;
using data::JsonRange;
using data::JsonValue;

constexpr JsonChoice<Mode> kModes[] = {{"best", Mode::kBest},
                                       {"text", Mode::kText},
                                       {"vector", Mode::kVector},
                                       {"hybrid", Mode::kHybrid},
                                       {"graph", Mode::kGraph}};
constexpr JsonChoice<index::Direction> kDirections[] = {{"out", index::Direction::kOut},
                                                        {"in", index::Direction::kIn},
                                                        {"both", index::Direction::kBoth}};
constexpr JsonChoice<index::Fusion> kFusions[] = {{"alpha", index::Fusion::kAlpha},
                                                  {"rrf", index::Fusion::kRrf}};
constexpr JsonRange kShare{0, 1};
// Limits of one request, so that a question cannot occupy the server for long.
constexpr double kMostHops = 8;
constexpr std::size_t kMostFrom = 1'000;
constexpr std::size_t kMostStages = 32;

void read_scope(JsonFields& fields, index::Scope& scope) {
  fields.read_object("filter", [&](JsonFields& filter) {
    // Any name is valid here: it may be that of an attribute.
    for (const std::string& name : filter.names()) {
      std::vector<std::string> texts;
      if (filter.read(name, texts) && texts.empty()) filter.fail(name, "must not be empty");
      for (std::string& text : texts) scope.filters.push_back({name, std::move(text)});
    }
  });
  std::string text;
  if (!fields.read("as_of", text)) return;
  if (const auto moment = moment_of(text))
    scope.as_of = *moment;
  else
    fields.fail("as_of", "must be a time such as 2024-03-05 or 2024-03-05T13:05:00Z");
}

// The fields that say which links are followed, and how.
void read_walk(JsonFields& fields, index::Expansion& expand) {
  fields.read("edges", expand.edges.names);
  fields.read("direction", expand.direction, kDirections);
  fields.read("decay", expand.decay, kShare);
}

void read_search(JsonFields& fields, Question& question) {
  fields.read("q", question.text);
  fields.read("plain", question.plain);
  fields.read("vector", question.vector);
  fields.read("space", question.space);
  fields.read("from", question.from);
  fields.read("k", question.k, {1, kMostHits});
  fields.read("fuzzy", question.fuzzy, {0, 2});
  fields.read("alpha", question.alpha, kShare);
  fields.read("fusion", question.fusion, kFusions);
  fields.read("exact", question.exact);
  fields.read("recall", question.recall, kShare);
  read_scope(fields, question.scope);
  read_walk(fields, question.expand);
}

void check(JsonFields& fields, const Question& question) {
  if (question.from.size() > kMostFrom)
    fields.fail("from", fmt::format("has more than {} ids", kMostFrom));
  // A graph search may also name its one start in "q".
  if (question.mode == Mode::kGraph && question.text.empty() && question.from.empty())
    fields.fail("from", "is missing: a search by links needs ids of documents to start from");
}

StageQuestion read_stage(JsonFields& fields) {
  StageQuestion stage;
  // The field that is present decides the kind of stage.
  if (fields.find("find") != nullptr) {
    stage.find.k = 100;  // more than a page: later stages choose among them
    fields.read("find", stage.find.mode, kModes);
    fields.read("hops", stage.find.expand.hops, {0, kMostHops});
    fields.read("keep", stage.keep, kShare);
    read_search(fields, stage.find);
    check(fields, stage.find);
  } else if (fields.find("expand") != nullptr) {
    stage.kind = StageQuestion::Kind::kExpand;
    fields.read("expand", stage.expand.hops, {1, kMostHops});
    read_walk(fields, stage.expand);
  } else if (fields.find("filter") != nullptr || fields.find("as_of") != nullptr) {
    stage.kind = StageQuestion::Kind::kFilter;
    read_scope(fields, stage.filter);
  } else if (fields.find("limit") != nullptr) {
    stage.kind = StageQuestion::Kind::kLimit;
    fields.read("limit", stage.limit, {1, kMostHits});
  } else {
    fields.fail("", "has none of \"find\", \"expand\", \"filter\", \"limit\"");
  }
  return stage;
}

}  // namespace

std::string_view name_of(Mode mode) {
  for (const auto& [name, known] : kModes)
    if (known == mode) return name;
  return {};
}

Result<Mode> mode_named(std::string_view name) {
  for (const auto& [known, mode] : kModes)
    if (known == name) return mode;
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not a search mode: text, vector, hybrid or graph", name)};
}

Result<index::Direction> direction_named(std::string_view name) {
  for (const auto& [known, direction] : kDirections)
    if (known == name) return direction;
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not a direction: out, in or both", name)};
}

Result<Question> question_of(const JsonValue& json) {
  if (json.object() == nullptr)
    return Error{Code::kInvalidArgument, "a question must be a JSON object"};
  Question question;
  JsonFields fields(json);
  fields.read("mode", question.mode, kModes);
  fields.read("offset", question.offset, {0, 100'000});
  fields.read("expand", question.expand.hops, {0, kMostHops});
  fields.read("facets", question.facets);
  fields.read("explain", question.explain);
  read_search(fields, question);
  // A pipeline brings its own starts, so the question itself needs none.
  const JsonValue* stages = fields.find_list("pipeline");
  if (stages == nullptr)
    check(fields, question);
  else if (stages->items().empty() || stages->items().size() > kMostStages)
    fields.fail("pipeline", fmt::format("must have 1 to {} stages", kMostStages));
  else
    fields.read_objects("pipeline",
                        [&](JsonFields& stage) { question.pipeline.push_back(read_stage(stage)); });
  // Unknown fields are errors: a misspelt name would otherwise be ignored in silence.
  KIN_RETURN_IF_ERROR(fields.finish());
  return question;
}

namespace {

void write_scope(JsonWriter& json, const index::Scope& scope) {
  std::map<std::string, std::vector<std::string>> filters;
  for (const index::Filter& filter : scope.filters) filters[filter.name].push_back(filter.value);
  json.key("filter").begin_object();
  for (const auto& [name, values] : filters) json.field(name, values);
  json.end();
  if (scope.as_of) write_moment(json, "as_of", *scope.as_of);
}

void write_walk(JsonWriter& json, const index::Expansion& expand) {
  json.field("edges", expand.edges.names).field("decay", expand.decay);
  for (const auto& [name, direction] : kDirections)
    if (direction == expand.direction) json.field("direction", name);
}

// What read_search() reads.
void write_search(JsonWriter& json, const Question& question) {
  json.field("q", question.text).field("k", question.k).field("fuzzy", question.fuzzy);
  json.field("plain", question.plain).field("exact", question.exact);
  json.field("recall", question.recall);
  if (!question.vector.empty()) json.field("vector", question.vector);
  if (!question.space.empty()) json.field("space", question.space);
  if (!question.from.empty()) json.field("from", question.from);
  if (question.alpha) json.field("alpha", *question.alpha);
  for (const auto& [name, fusion] : kFusions)
    if (fusion == question.fusion) json.field("fusion", name);
  write_scope(json, question.scope);
  write_walk(json, question.expand);
}

void write_stage(JsonWriter& json, const StageQuestion& stage) {
  json.begin_object();
  switch (stage.kind) {
    case StageQuestion::Kind::kFind:
      json.field("find", name_of(stage.find.mode)).field("hops", stage.find.expand.hops);
      json.field("keep", stage.keep);
      write_search(json, stage.find);
      break;
    case StageQuestion::Kind::kExpand:
      json.field("expand", stage.expand.hops);
      write_walk(json, stage.expand);
      break;
    case StageQuestion::Kind::kFilter: write_scope(json, stage.filter); break;
    case StageQuestion::Kind::kLimit: json.field("limit", stage.limit); break;
  }
  json.end();
}

}  // namespace

std::string to_json(const Question& question) {
  JsonWriter json;
  json.begin_object().field("mode", name_of(question.mode)).field("offset", question.offset);
  json.field("explain", question.explain).field("facets", question.facets);
  json.field("expand", question.expand.hops);
  write_search(json, question);
  if (!question.pipeline.empty()) {
    json.key("pipeline").begin_array();
    for (const StageQuestion& stage : question.pipeline) write_stage(json, stage);
    json.end();
  }
  return json.end().take();
}

}  // namespace kin::search
