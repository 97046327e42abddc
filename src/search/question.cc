#include "search/question.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "search/document.h"

namespace kin::search {
namespace {

using data::JsonValue;

constexpr std::array<std::pair<Mode, std::string_view>, 5> kModes{{{Mode::kBest, "best"},
                                                                   {Mode::kText, "text"},
                                                                   {Mode::kVector, "vector"},
                                                                   {Mode::kHybrid, "hybrid"},
                                                                   {Mode::kGraph, "graph"}}};
constexpr std::size_t kMostFrom = 1'000;
constexpr std::size_t kMostStages = 32;

Error wrong(std::string_view field, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("field \"{}\" {}", field, what)};
}

Result<std::string> text_in(std::string_view field, const JsonValue& value) {
  if (value.string() == nullptr) return wrong(field, "is not a text");
  return *value.string();
}

Result<double> number_in(std::string_view field, const JsonValue& value, double least,
                         double most) {
  const double* number = value.number();
  if (number == nullptr || !(*number >= least && *number <= most))
    return wrong(field, fmt::format("is not a number from {} to {}", least, most));
  return *number;
}

Result<std::size_t> whole_in(std::string_view field, const JsonValue& value, std::size_t least,
                             std::size_t most) {
  const double* number = value.number();
  if (number == nullptr || *number != std::floor(*number) ||
      !(*number >= static_cast<double>(least) && *number <= static_cast<double>(most)))
    return wrong(field, fmt::format("is not a whole number from {} to {}", least, most));
  return static_cast<std::size_t>(*number);
}

Result<bool> truth_in(std::string_view field, const JsonValue& value) {
  if (value.boolean() == nullptr) return wrong(field, "is neither true nor false");
  return *value.boolean();
}

Result<std::vector<std::string>> texts_in(std::string_view field, const JsonValue& value) {
  if (value.string() != nullptr) return std::vector<std::string>{*value.string()};
  std::vector<std::string> texts;
  for (const JsonValue& item : value.items()) {
    KIN_TRY(std::string text, text_in(field, item));
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return wrong(field, "is not a list of texts");
  return texts;
}

Result<std::vector<float>> vector_in(std::string_view field, const JsonValue& value) {
  std::vector<float> vector;
  for (const JsonValue& item : value.items()) {
    if (item.number() == nullptr) return wrong(field, "is not a list of numbers");
    vector.push_back(static_cast<float>(*item.number()));
  }
  if (vector.empty()) return wrong(field, "is not a list of numbers");
  return vector;
}

Result<std::vector<index::Filter>> filters_in(std::string_view field, const JsonValue& value) {
  if (value.object() == nullptr) return wrong(field, "is not an object such as {\"tag\": [\"x\"]}");
  std::vector<index::Filter> filters;
  for (const auto& [name, values] : *value.object()) {
    KIN_TRY(const auto texts, texts_in(fmt::format("{}.{}", field, name), values));
    for (const std::string& text : texts) filters.push_back({name, text});
  }
  return filters;
}

Result<index::Direction> direction_in(std::string_view field, const JsonValue& value) {
  auto direction = direction_named(value.text());
  if (!direction) return with_context(fmt::format("field \"{}\"", field), direction.error());
  return direction;
}

Result<index::Fusion> fusion_in(std::string_view field, const JsonValue& value) {
  if (value.text() == "alpha") return index::Fusion::kAlpha;
  if (value.text() == "rrf") return index::Fusion::kRrf;
  return wrong(field, "is neither \"alpha\" nor \"rrf\"");
}

// Reads the members of an object; an unknown member is an error.
using Take = std::function<Status(std::string_view field, const JsonValue& value)>;
using Fields = std::map<std::string, Take, std::less<>>;
Status take_all(const JsonValue& json, const Fields& fields) {
  for (const auto& [name, value] : *json.object()) {
    const auto field = fields.find(name);
    if (field == fields.end()) return wrong(name, "is not known here");
    if (value.is_null()) continue;
    KIN_RETURN_IF_ERROR(field->second(name, value));
  }
  return Done{};
}

// A field whose value is stored in `place`.
template <typename T, typename Read, typename... More>
Take into(T& place, Read read, More... more) {
  return [&place, read, more...](std::string_view field, const JsonValue& value) -> Status {
    KIN_TRY(place, read(field, value, more...));
    return Done{};
  };
}

Result<std::optional<index::Millis>> moment_in(std::string_view field, const JsonValue& value) {
  KIN_TRY(const std::string text, text_in(field, value));
  const auto moment = moment_of(text);
  if (!moment) return with_context(fmt::format("field \"{}\"", field), moment.error());
  return std::optional(*moment);
}

Result<std::optional<double>> share_in(std::string_view field, const JsonValue& value) {
  KIN_TRY(const double share, number_in(field, value, 0, 1));
  return std::optional(share);
}

// The fields that say which links are followed, and how.
Fields walk_fields(index::Expansion& expand) {
  return {{"edges", into(expand.edges.names, texts_in)},
          {"direction", into(expand.direction, direction_in)},
          {"decay", into(expand.decay, number_in, 0.0, 1.0)}};
}

Fields search_fields(Question& question) {
  Fields fields{
      {"q", into(question.text, text_in)},
      {"plain", into(question.plain, truth_in)},
      {"vector", into(question.vector, vector_in)},
      {"space", into(question.space, text_in)},
      {"from", into(question.from, texts_in)},
      {"k", into(question.k, whole_in, std::size_t{1}, kMostHits)},
      {"fuzzy", into(question.fuzzy, whole_in, std::size_t{0}, std::size_t{2})},
      {"alpha", into(question.alpha, share_in)},
      {"fusion", into(question.fusion, fusion_in)},
      {"exact", into(question.exact, truth_in)},
      {"filter", into(question.scope.filters, filters_in)},
      {"as_of", into(question.scope.as_of, moment_in)},
  };
  fields.merge(walk_fields(question.expand));
  return fields;
}

Status check(const Question& question) {
  if (question.from.size() > kMostFrom)
    return wrong("from", fmt::format("has more than {} ids", kMostFrom));
  if (question.mode == Mode::kGraph && question.text.empty() && question.from.empty())
    return Error{Code::kInvalidArgument,
                 "a search by links needs \"from\": ids of documents to start from"};
  return Done{};
}

Result<StageQuestion> find_stage(const JsonValue& json) {
  StageQuestion stage{.kind = StageQuestion::Kind::kFind};
  Fields fields = search_fields(stage.find);
  fields.emplace("find", [&](std::string_view, const JsonValue& value) -> Status {
    KIN_TRY(stage.find.mode, mode_named(value.text()));
    return Done{};
  });
  fields.emplace("hops", into(stage.find.expand.hops, whole_in, std::size_t{0}, std::size_t{8}));
  fields.emplace("keep", into(stage.keep, number_in, 0.0, 1.0));
  stage.find.k = 100;
  KIN_RETURN_IF_ERROR(take_all(json, fields));
  KIN_RETURN_IF_ERROR(check(stage.find));
  return stage;
}

Result<StageQuestion> stage_in(const JsonValue& json) {
  StageQuestion stage;
  if (json.object() == nullptr) return Error{Code::kInvalidArgument, "is not an object"};
  if (!json["find"].is_null()) return find_stage(json);
  Fields fields;
  if (!json["expand"].is_null()) {
    stage.kind = StageQuestion::Kind::kExpand;
    fields = walk_fields(stage.expand);
    fields.emplace("expand", into(stage.expand.hops, whole_in, std::size_t{1}, std::size_t{8}));
  } else if (!json["filter"].is_null() || !json["as_of"].is_null()) {
    stage.kind = StageQuestion::Kind::kFilter;
    fields.emplace("filter", into(stage.filter.filters, filters_in));
    fields.emplace("as_of", into(stage.filter.as_of, moment_in));
  } else if (!json["limit"].is_null()) {
    stage.kind = StageQuestion::Kind::kLimit;
    fields.emplace("limit", into(stage.limit, whole_in, std::size_t{1}, kMostHits));
  } else {
    return Error{Code::kInvalidArgument, "has none of \"find\", \"expand\", \"filter\", \"limit\""};
  }
  KIN_RETURN_IF_ERROR(take_all(json, fields));
  return stage;
}

Result<std::vector<StageQuestion>> pipeline_in(std::string_view field, const JsonValue& value) {
  std::vector<StageQuestion> stages;
  for (const JsonValue& item : value.items()) {
    auto stage = stage_in(item);
    if (!stage)
      return with_context(fmt::format("stage {} of the pipeline", stages.size() + 1),
                          stage.error());
    stages.push_back(std::move(*stage));
  }
  if (stages.empty() || stages.size() > kMostStages)
    return wrong(field, fmt::format("is not a list of 1 to {} stages", kMostStages));
  return stages;
}

}  // namespace

std::string_view name_of(Mode mode) {
  for (const auto& [known, name] : kModes)
    if (known == mode) return name;
  return {};
}

Result<Mode> mode_named(std::string_view name) {
  for (const auto& [mode, known] : kModes)
    if (known == name) return mode;
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not a search mode: text, vector, hybrid or graph", name)};
}

Result<index::Direction> direction_named(std::string_view name) {
  if (name == "out") return index::Direction::kOut;
  if (name == "in") return index::Direction::kIn;
  if (name == "both") return index::Direction::kBoth;
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not a direction: out, in or both", name)};
}

Result<Question> question_of(const JsonValue& json) {
  if (json.object() == nullptr)
    return Error{Code::kInvalidArgument, "a question must be a JSON object"};
  Question question;
  Fields fields = search_fields(question);
  fields.emplace("mode", [&](std::string_view, const JsonValue& value) -> Status {
    KIN_TRY(question.mode, mode_named(value.text()));
    return Done{};
  });
  fields.emplace("offset", into(question.offset, whole_in, std::size_t{0}, std::size_t{100'000}));
  fields.emplace("expand", into(question.expand.hops, whole_in, std::size_t{0}, std::size_t{8}));
  fields.emplace("facets", into(question.facets, texts_in));
  fields.emplace("explain", into(question.explain, truth_in));
  fields.emplace("pipeline", into(question.pipeline, pipeline_in));
  KIN_RETURN_IF_ERROR(take_all(json, fields));
  if (question.pipeline.empty()) KIN_RETURN_IF_ERROR(check(question));
  return question;
}

}  // namespace kin::search
