#include "cloud/dynamo_client.h"

#include <fmt/format.h>

#include "cloud/calls/caller.h"
#include "cloud/dynamo/batch.h"
#include "cloud/dynamo/protocol.h"

namespace kin::cloud {
namespace {

using data::JsonValue;

// How long a new table may take. DynamoDB needs some seconds, more with indexes.
constexpr std::chrono::minutes kTableDeadline{10};

std::string body_with_table(const std::string& table) {
  return JsonWriter().begin_object().field("TableName", table).end().take();
}

bool is_condition_failure(const net::HttpResponse& response) {
  return dynamo_error_type(response) == "ConditionalCheckFailedException";
}

Item key_of(const Item& item, const KeySchema& key) {
  Item out;
  for (const auto& [name, value] : item) {
    if (name == key.partition.name || (key.sort && name == key.sort->name))
      out.emplace(name, value);
  }
  return out;
}

}  // namespace

struct DynamoClient::State {
  State(CloudOptions options, Clock& clock, std::uint64_t seed)
      : caller(std::move(options), {.name = "dynamodb", .judge = &judge_dynamo}, clock, seed) {}

  Result<Answer> answer(const std::string& operation, std::string body) {
    return caller.call(dynamo_call(caller.options(), operation, std::move(body)));
  }
  // The body of a success.
  Result<JsonValue> call(const std::string& table, const std::string& operation, std::string body) {
    KIN_TRY(const Answer given, answer(operation, std::move(body)));
    if (given.verdict != Verdict::kDone) return dynamo_error(table, given);
    return data::parse_json(given.response.body);
  }
  Status await_active(DynamoClient& client, const TableSpec& spec);
  Result<bool> enable_ttl(const TableSpec& spec);

  Caller caller;
};

DynamoClient::DynamoClient(CloudOptions options, Clock& clock, std::uint64_t seed)
    : state_(std::make_unique<State>(std::move(options), clock, seed)) {}

DynamoClient::~DynamoClient() = default;

CallCounts DynamoClient::counts() const {
  return state_->caller.counts();
}

Status DynamoClient::State::await_active(DynamoClient& client, const TableSpec& spec) {
  const SteadyTime deadline = caller.clock().steady_now() + kTableDeadline;
  for (int tries = 1; caller.clock().steady_now() < deadline; ++tries) {
    KIN_TRY(const auto table, client.describe_table(spec.name));
    if (table && (table->spec.key != spec.key || table->spec.indexes != spec.indexes))
      return Error{Code::kFailedPrecondition,
                   fmt::format("the table \"{}\" exists with other keys or indexes: choose another "
                               "name",
                               spec.name)};
    if (table && table->active) return Done{};
    caller.clock().sleep_for(caller.jitter(tries));
  }
  return Error{Code::kUnavailable, fmt::format("the table \"{}\" is not ready after {} minutes",
                                               spec.name, kTableDeadline.count())};
}

Result<bool> DynamoClient::State::enable_ttl(const TableSpec& spec) {
  if (spec.ttl_attribute.empty()) return true;
  // The setting can be changed once an hour only, so it is not written if it is right.
  KIN_TRY(const Answer now, answer("DescribeTimeToLive", body_with_table(spec.name)));
  if (now.verdict == Verdict::kDone) {
    KIN_TRY(const JsonValue json, data::parse_json(now.response.body));
    const JsonValue& ttl = json["TimeToLiveDescription"];
    const std::string_view status = ttl["TimeToLiveStatus"].text();
    if ((status == "ENABLED" || status == "ENABLING") &&
        ttl["AttributeName"].text() == spec.ttl_attribute)
      return true;
  }
  JsonWriter json;
  json.begin_object().field("TableName", spec.name).key("TimeToLiveSpecification").begin_object();
  json.field("AttributeName", spec.ttl_attribute).field("Enabled", true).end().end();
  KIN_TRY(const Answer set, answer("UpdateTimeToLive", json.take()));
  if (set.verdict == Verdict::kDone) return true;
  // Some databases that speak DynamoDB's protocol have no expiry.
  if (dynamo_error_type(set.response) == "UnknownOperationException") return false;
  return dynamo_error(spec.name, set);
}

Result<bool> DynamoClient::create_table(const TableSpec& spec) {
  KIN_TRY(const auto there, describe_table(spec.name));
  if (!there) {
    KIN_TRY(const Answer made, state_->answer("CreateTable", create_table_body(spec)));
    // Another worker may make it at the same time.
    const bool in_use = dynamo_error_type(made.response) == "ResourceInUseException";
    if (made.verdict != Verdict::kDone && !in_use) return dynamo_error(spec.name, made);
  }
  KIN_RETURN_IF_ERROR(state_->await_active(*this, spec));
  return state_->enable_ttl(spec);
}

Result<std::optional<TableState>> DynamoClient::describe_table(const std::string& table) {
  KIN_TRY(const Answer answer, state_->answer("DescribeTable", body_with_table(table)));
  if (dynamo_error_type(answer.response) == "ResourceNotFoundException")
    return std::optional<TableState>();
  if (answer.verdict != Verdict::kDone) return dynamo_error(table, answer);
  KIN_TRY(const JsonValue json, data::parse_json(answer.response.body));
  KIN_TRY(TableState state, read_table(json));
  return std::optional(std::move(state));
}

Status DynamoClient::delete_table(const std::string& table) {
  KIN_TRY(const Answer answer, state_->answer("DeleteTable", body_with_table(table)));
  const bool gone = dynamo_error_type(answer.response) == "ResourceNotFoundException";
  if (answer.verdict == Verdict::kDone || gone) return Done{};
  return dynamo_error(table, answer);
}

Result<std::optional<Item>> DynamoClient::get(const std::string& table, const Item& key) {
  JsonWriter json;
  json.begin_object().field("TableName", table).field("ConsistentRead", true).key("Key");
  write_item(json, key);
  KIN_TRY(const JsonValue answer, state_->call(table, "GetItem", json.end().take()));
  if (answer["Item"].is_null()) return std::optional<Item>();
  KIN_TRY(Item item, read_item(answer["Item"]));
  return std::optional(std::move(item));
}

Result<std::vector<Item>> DynamoClient::get_all(const std::string& table, std::vector<Item> keys) {
  return get_batches(state_->caller, table, std::move(keys));
}

Status DynamoClient::put(const std::string& table, const Item& item) {
  JsonWriter json;
  json.begin_object().field("TableName", table).key("Item");
  write_item(json, item);
  const auto answer = state_->call(table, "PutItem", json.end().take());
  return answer ? Status(Done{}) : answer.error();
}

Result<bool> DynamoClient::put_if_absent(const std::string& table, const KeySchema& key,
                                         const Item& item) {
  const ConditionalPut put{.item = item};
  KIN_TRY(const std::vector<bool> done, put_each_if(table, key, std::span(&put, 1)));
  return static_cast<bool>(done[0]);
}

Result<std::vector<bool>> DynamoClient::put_each_if(const std::string& table, const KeySchema& key,
                                                    std::span<const ConditionalPut> puts) {
  std::vector<bool> done(puts.size());
  std::vector<std::size_t> unclear;  // refused after a try whose answer was lost
  std::optional<Error> failure;
  CallBatch batch(state_->caller);
  std::size_t next = 0;
  batch.run([&] {
    if (failure || next == puts.size()) return false;
    const std::size_t i = next++;
    JsonWriter json;
    json.begin_object().field("TableName", table).key("Item");
    write_item(json, puts[i].item);
    write_condition(json, "ConditionExpression", puts[i].expected, key.partition.name);
    batch.add(dynamo_call(state_->caller.options(), "PutItem", json.end().take()),
              [&, i](const Result<Answer>& answer) {
                if (!answer)
                  failure = answer.error();
                else if (answer->verdict == Verdict::kDone)
                  done[i] = true;
                else if (!is_condition_failure(answer->response))
                  failure = dynamo_error(table, *answer);
                else if (answer->ambiguous)
                  unclear.push_back(i);
              });
    return true;
  });
  if (failure) return *failure;
  for (const std::size_t i : unclear) {
    KIN_TRY(const auto there, get(table, key_of(puts[i].item, key)));
    // If the item there is ours, the lost answer was a success.
    done[i] = there == puts[i].item;
  }
  return done;
}

Result<bool> DynamoClient::remove_if(const std::string& table, const Item& key,
                                     const Item& expected) {
  JsonWriter json;
  json.begin_object().field("TableName", table).key("Key");
  write_item(json, key);
  write_condition(json, "ConditionExpression", expected, "");
  KIN_TRY(const Answer answer, state_->answer("DeleteItem", json.end().take()));
  if (answer.verdict == Verdict::kDone) return true;
  if (!is_condition_failure(answer.response)) return dynamo_error(table, answer);
  if (!answer.ambiguous) return false;
  // A try whose answer was lost may have removed it.
  KIN_TRY(const auto there, get(table, key));
  return !there;
}

Result<ItemPage> DynamoClient::scan(const std::string& table, const Item& equal,
                                    const std::optional<Item>& after) {
  JsonWriter json;
  json.begin_object().field("TableName", table);
  if (!equal.empty()) write_condition(json, "FilterExpression", equal, "");
  if (after) {
    json.key("ExclusiveStartKey");
    write_item(json, *after);
  }
  KIN_TRY(const JsonValue answer, state_->call(table, "Scan", json.end().take()));
  return read_page(answer);
}

Status DynamoClient::put_all(const std::string& table, std::vector<Item> items) {
  return write_batches(state_->caller, table, WriteKind::kPut, std::move(items));
}

Status DynamoClient::remove_all(const std::string& table, std::vector<Item> keys) {
  return write_batches(state_->caller, table, WriteKind::kDelete, std::move(keys));
}

Result<ItemPage> DynamoClient::query(const DynamoQuery& query) {
  KIN_TRY(const JsonValue answer, state_->call(query.table, "Query", query_body(query)));
  return read_page(answer);
}

Status DynamoClient::query_all(std::span<const DynamoQuery> queries, const Found& found) {
  CallBatch batch(state_->caller);
  std::optional<Error> failure;
  // Takes a page, and sends for the next.
  std::function<void(std::size_t, const DynamoQuery&)> send;
  const auto take = [&](std::size_t number, const Result<Answer>& answer) -> Status {
    const DynamoQuery& query = queries[number];
    if (!answer) return answer.error();
    if (answer->verdict != Verdict::kDone) return dynamo_error(query.table, *answer);
    KIN_TRY(const JsonValue json, data::parse_json(answer->response.body));
    KIN_TRY(ItemPage page, read_page(json));
    const bool goes_on = found(number, std::move(page.items));
    if (!goes_on || !page.next) return Done{};
    DynamoQuery next = query;
    next.after = std::move(page.next);
    send(number, next);
    return Done{};
  };
  send = [&](std::size_t number, const DynamoQuery& query) {
    batch.add(dynamo_call(state_->caller.options(), "Query", query_body(query)),
              [&, number](const Result<Answer>& answer) {
                if (failure) return;
                const Status taken = take(number, answer);
                if (!taken.ok()) failure = taken.error();
              });
  };
  std::size_t next = 0;
  batch.run([&] {
    if (failure || next == queries.size()) return false;
    send(next, queries[next]);
    ++next;
    return true;
  });
  return failure ? Status(*failure) : Status(Done{});
}

}  // namespace kin::cloud
