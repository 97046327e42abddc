#include "server/api/index_requests.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "data/json_fields.h"
#include "search/index_folder.h"
#include "server/http/parameters.h"

namespace kin::server {

using data::JsonFields;
using data::JsonValue;

namespace {

constexpr std::uint64_t kMostHops = 4;
constexpr std::uint64_t kMostNodes = 500;
constexpr std::uint64_t kLongestPath = 64;
constexpr std::string_view kMostBehind = "most_behind";
constexpr int kLongestBehind = 86'400;

Error not_known(std::string_view name) {
  return {Code::kInvalidArgument, fmt::format("parameter \"{}\" is not known here", name)};
}

}  // namespace

Status only_parameters(const Request& request, const std::set<std::string_view>& known) {
  for (const Parameter& parameter : request.query)
    if (!known.contains(parameter.name)) return not_known(parameter.name);
  return Done{};
}

namespace {

Result<std::vector<search::Document>> documents_of(const JsonValue& list) {
  std::vector<search::Document> documents;
  for (const JsonValue& item : list.items()) {
    auto document = search::document_of(item);
    if (!document)
      return with_context(fmt::format("document {}", documents.size() + 1), document.error());
    documents.push_back(std::move(*document));
  }
  return documents;
}

// Further spaces, for vectors of the documents' own.
void read_spaces(JsonFields& body, search::IndexConfig& config) {
  body.read_objects("spaces", [&](JsonFields& fields) {
    search::SpaceConfig& space = config.more.emplace_back();
    std::string distance = "cosine";
    fields.require("name");
    fields.read("name", space.name);
    fields.require("dim");
    fields.read("dim", space.dimension, {1, index::kMostDimensions});
    fields.read("distance", distance);
    const auto named = search::distance_named(distance);
    if (named)
      space.distance = *named;
    else
      fields.fail("distance", named.error().message);
  });
}

}  // namespace

Result<NewIndex> new_index_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  NewIndex made;
  made.config.main.bits = 7;
  std::string embed;
  std::string distance = "cosine";
  std::string dedup;
  std::uint32_t dimension = 0;
  std::string storage;
  double threshold = 0.8;
  body.read("name", made.name);
  body.read("embed", embed);
  body.read("dim", dimension, {0, index::kMostDimensions});
  body.read("distance", distance);
  body.read("bits", made.config.main.bits, {0, 8});
  body.read("vectors", storage);
  read_spaces(body, made.config);
  body.read("language", made.config.language);
  body.read("dedup", dedup);
  body.read("threshold", threshold);
  body.read("partitions", made.partitions, {0, kMostPartitions});
  const JsonValue* sample = body.find_list("sample");
  KIN_RETURN_IF_ERROR(body.finish());
  KIN_RETURN_IF_ERROR(search::check_name(made.name));
  KIN_TRY(made.config.main.distance, search::distance_named(distance));
  KIN_RETURN_IF_ERROR(search::choose_vectors(made.config, embed, dimension));
  if (!storage.empty()) {
    KIN_TRY(made.config.main.storage, search::storage_named(storage));
  }
  for (search::SpaceConfig& space : made.config.more) space.bits = made.config.main.bits;
  if (!dedup.empty()) {
    made.config.dedup.emplace();
    KIN_TRY(made.config.dedup->action, search::action_named(dedup));
    made.config.dedup->threshold = threshold;
  }
  KIN_RETURN_IF_ERROR(search::check(made.config));
  if (sample != nullptr) {
    KIN_TRY(made.sample, documents_of(*sample));
  }
  return made;
}

Result<std::vector<search::Document>> documents_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  const JsonValue* list = body.find_list("documents");
  KIN_RETURN_IF_ERROR(body.finish());
  if (list == nullptr || list->items().empty())
    return Error{Code::kInvalidArgument, "field \"documents\" is missing or empty"};
  return documents_of(*list);
}

Result<std::string> id_in(const Request& request) {
  const auto id = request.parameter("id");
  if (!id || id->empty())
    return Error{Code::kInvalidArgument, "parameter \"id\" is missing: which document?"};
  return std::string(*id);
}

Result<std::optional<index::Millis>> as_of_in(const Request& request) {
  const auto text = request.parameter("as_of");
  if (!text || text->empty()) return std::optional<index::Millis>();
  const auto moment = search::moment_of(*text);
  if (!moment) return with_context("parameter \"as_of\"", moment.error());
  return std::optional(*moment);
}

namespace {

// The items of a list with commas; empty ones are left out.
std::vector<std::string> separated(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    if (comma > from) items.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return items;
}

// The field of a Question that a parameter stands for.
Result<JsonValue> field_of(const Parameter& parameter) {
  static const std::set<std::string_view> kNumbers{"k",     "offset", "expand",
                                                   "fuzzy", "alpha",  "recall"};
  static const std::set<std::string_view> kTruths{"explain", "plain", "exact"};
  static const std::set<std::string_view> kTexts{"q",      "mode",  "as_of",
                                                 "fusion", "space", "direction"};
  static const std::set<std::string_view> kLists{"facets", "from", "edges"};
  if (kNumbers.contains(parameter.name)) {
    KIN_TRY(const double number, decimal_in(parameter));
    return JsonValue(number);
  }
  if (kTruths.contains(parameter.name)) {
    KIN_TRY(const bool truth, truth_in(parameter));
    return JsonValue(truth);
  }
  if (kTexts.contains(parameter.name)) return JsonValue(parameter.value);
  if (!kLists.contains(parameter.name)) return not_known(parameter.name);
  JsonValue::Array items;
  for (std::string& item : separated(parameter.value)) items.emplace_back(std::move(item));
  return JsonValue(std::move(items));
}

}  // namespace

Result<search::Question> question_in_query(const Request& request) {
  // Made into the JSON of a POST, so that one parser reads both.
  JsonValue::Object fields;
  std::map<std::string, JsonValue::Array> filters;
  for (const Parameter& parameter : request.query) {
    if (parameter.name == "filter") {
      const std::size_t equals = parameter.value.find('=');
      if (equals == 0 || equals == std::string::npos)
        return Error{
            Code::kInvalidArgument,
            fmt::format("parameter \"filter\": \"{}\" is not like tag=x", parameter.value)};
      // Values of one name are alternatives, so they are collected in one list.
      filters[parameter.value.substr(0, equals)].emplace_back(parameter.value.substr(equals + 1));
      continue;
    }
    // A form sends the fields that were left empty, too.
    if (parameter.value.empty() && parameter.name != "q") continue;
    KIN_TRY(JsonValue value, field_of(parameter));
    fields.emplace_back(parameter.name, std::move(value));
  }
  if (!filters.empty()) {
    JsonValue::Object all;
    for (auto& [name, values] : filters) all.emplace_back(name, JsonValue(std::move(values)));
    fields.emplace_back("filter", JsonValue(std::move(all)));
  }
  return search::question_of(JsonValue(std::move(fields)));
}

Result<std::optional<std::chrono::milliseconds>> take_most_behind(Request& request) {
  std::optional<std::chrono::milliseconds> most;
  for (const Parameter& parameter : request.query) {
    if (parameter.name != kMostBehind) continue;
    KIN_TRY(const double seconds, decimal_in(parameter));
    if (!(seconds >= 0 && seconds <= kLongestBehind))
      return Error{Code::kInvalidArgument,
                   fmt::format("parameter \"{}\" is not between 0 and {} seconds", kMostBehind,
                               kLongestBehind)};
    most = std::chrono::milliseconds{std::llround(seconds * 1'000)};
  }
  std::erase_if(request.query, [](const Parameter& one) { return one.name == kMostBehind; });
  return most;
}

Result<search::Question> question_in_body(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  return search::question_of(json);
}

Result<search::NeighboursQuestion> neighbours_in(const Request& request) {
  KIN_RETURN_IF_ERROR(only_parameters(request, {"id", "hops", "limit", "as_of"}));
  search::NeighboursQuestion question;
  KIN_TRY(question.id, id_in(request));
  KIN_TRY(question.as_of, as_of_in(request));
  for (const Parameter& parameter : request.query) {
    if (parameter.name == "hops") {
      KIN_TRY(const std::uint64_t hops, number_in(parameter, kMostHops));
      question.hops = static_cast<std::uint32_t>(hops);
    } else if (parameter.name == "limit") {
      KIN_TRY(question.limit, number_in(parameter, kMostNodes));
    }
  }
  return question;
}

Result<search::PathQuestion> path_in(const Request& request) {
  KIN_RETURN_IF_ERROR(
      only_parameters(request, {"from", "to", "direction", "edges", "hops", "as_of"}));
  search::PathQuestion question;
  KIN_TRY(question.as_of, as_of_in(request));
  for (const Parameter& parameter : request.query) {
    if (parameter.name == "from") {
      question.from = parameter.value;
    } else if (parameter.name == "to") {
      question.to = parameter.value;
    } else if (parameter.name == "direction") {
      KIN_TRY(question.direction, search::direction_named(parameter.value));
    } else if (parameter.name == "edges") {
      question.edges = separated(parameter.value);
    } else if (parameter.name == "hops") {
      KIN_TRY(const std::uint64_t hops, number_in(parameter, kLongestPath));
      question.hops = static_cast<std::uint32_t>(hops);
    }
  }
  if (question.from.empty() || question.to.empty())
    return Error{Code::kInvalidArgument, "parameters \"from\" and \"to\" must name documents"};
  return question;
}

}  // namespace kin::server
