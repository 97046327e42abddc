#include "router/meta/etcd_messages.h"

#include <charconv>

#include "base/base64.h"
#include "base/json_writer.h"
#include "data/json_value.h"

namespace kin::router {
namespace {

using data::JsonValue;

constexpr char kRemoved = '\0';
constexpr char kValue = '\1';

Error not_etcds(std::string_view what) {
  return {Code::kDataLoss, std::string("an answer of etcd cannot be understood: ").append(what)};
}

// The gateway writes numbers of 64 bits as texts, and leaves out zeros.
Result<std::uint64_t> number_of(const JsonValue& value) {
  if (value.is_null()) return std::uint64_t{0};
  const std::string_view digits = value.text();
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (problem != std::errc() || end != digits.data() + digits.size())
    return not_etcds("a number is missing");
  return number;
}

Result<std::string> bytes_of(const JsonValue& value) {
  auto bytes = from_base64(value.text());
  if (!bytes) return not_etcds("bytes are not base64");
  return std::move(*bytes);
}

Result<JsonValue> parse_answer(std::string_view answer) {
  auto parsed = data::parse_json(answer);
  if (!parsed) return not_etcds(parsed.error().message);
  return std::move(*parsed);
}

void write_range(JsonWriter& json, const EtcdRangeQuestion& question) {
  json.field("key", to_base64(question.key));
  if (!question.end.empty()) json.field("range_end", to_base64(question.end));
}

}  // namespace

std::string etcd_value(std::optional<std::string_view> bytes) {
  return bytes ? std::string(1, kValue).append(*bytes) : std::string(1, kRemoved);
}

std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::string(1, '\0');
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

std::string range_request(const EtcdRangeQuestion& question) {
  JsonWriter json;
  json.begin_object();
  write_range(json, question);
  if (question.least > 0) json.field("min_mod_revision", std::to_string(question.least));
  return json.end().take();
}

std::string swap_request(const EtcdSwapQuestion& question) {
  const std::string key = to_base64(question.key);
  JsonWriter json;
  json.begin_object().key("compare").begin_array();
  json.begin_object().field("key", key).field("target", "MOD").field("result", "EQUAL");
  json.field("mod_revision", std::to_string(question.revision)).end();
  if (question.revision != 0) {
    json.begin_object().field("key", key).field("target", "VALUE");
    json.field("result", question.removed ? "EQUAL" : "NOT_EQUAL");
    json.field("value", to_base64(etcd_value({}))).end();
  }
  json.end().key("success").begin_array().begin_object().key("request_put").begin_object();
  json.field("key", key).field("value", to_base64(question.value)).end().end().end();
  return json.end().take();
}

std::string watch_request(const EtcdRangeQuestion& question) {
  JsonWriter json;
  json.begin_object().key("create_request").begin_object();
  write_range(json, question);
  json.field("start_revision", std::to_string(question.least)).end();
  return json.end().take();
}

std::string login_request(std::string_view user, std::string_view password) {
  JsonWriter json;
  return json.begin_object().field("name", user).field("password", password).end().take();
}

Result<EtcdRange> parse_range(std::string_view answer) {
  KIN_TRY(const JsonValue json, parse_answer(answer));
  EtcdRange range;
  KIN_TRY(range.revision, number_of(json["header"]["revision"]));
  if (range.revision == 0) return not_etcds("it has no revision");
  for (const JsonValue& item : json["kvs"].items()) {
    EtcdRow& row = range.rows.emplace_back();
    KIN_TRY(row.key, bytes_of(item["key"]));
    KIN_TRY(const std::string value, bytes_of(item["value"]));
    KIN_TRY(row.row.revision, number_of(item["mod_revision"]));
    const bool has_value = value.starts_with(kValue);
    if ((!has_value && value != std::string_view(&kRemoved, 1)) || row.row.revision == 0)
      return Error{Code::kDataLoss,
                   "etcd has a row \"" + row.key +
                       "\" that a router did not write (give routers a prefix of their own)"};
    if (has_value) row.row.bytes = value.substr(1);
  }
  return range;
}

Result<EtcdSwap> parse_swap(std::string_view answer) {
  KIN_TRY(const JsonValue json, parse_answer(answer));
  EtcdSwap swap;
  KIN_TRY(swap.revision, number_of(json["header"]["revision"]));
  if (swap.revision == 0) return not_etcds("it has no revision");
  const bool* succeeded = json["succeeded"].boolean();
  swap.succeeded = succeeded != nullptr && *succeeded;
  return swap;
}

Result<EtcdWatchLine> parse_watch_line(std::string_view line) {
  KIN_TRY(const JsonValue json, parse_answer(line));
  const JsonValue& result = json["result"];
  EtcdWatchLine parsed{.changed = !result["events"].items().empty()};
  const bool* cancelled = result["canceled"].boolean();
  if (cancelled != nullptr && *cancelled) {
    // Revisions that were compacted are read again as a range; that is a change like any other.
    KIN_TRY(const std::uint64_t compacted, number_of(result["compact_revision"]));
    parsed.changed = parsed.changed || compacted > 0;
    parsed.ended = std::string(result["cancel_reason"].text());
  }
  if (!json["error"].is_null()) parsed.ended = parse_failure(line).message;
  return parsed;
}

Result<std::string> parse_login(std::string_view answer) {
  KIN_TRY(const JsonValue json, parse_answer(answer));
  if (json["token"].text().empty()) return not_etcds("it has no token");
  return std::string(json["token"].text());
}

EtcdFailure parse_failure(std::string_view answer) {
  const auto parsed = data::parse_json(answer);
  if (!parsed) return {.message = std::string(answer.substr(0, 200))};
  // Streams put the failure into an object of its own.
  const JsonValue& failure = (*parsed)["error"].object() != nullptr ? (*parsed)["error"] : *parsed;
  EtcdFailure found{.message = std::string(failure["message"].text())};
  if (found.message.empty()) found.message = std::string(failure["error"].text());
  for (const char* name : {"code", "grpc_code"}) {
    const double* code = failure[name].number();
    if (code != nullptr && *code >= 0 && *code < 100) found.code = static_cast<int>(*code);
  }
  return found;
}

}  // namespace kin::router
