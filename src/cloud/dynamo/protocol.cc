#include "cloud/dynamo/protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/base64.h"
#include "cloud/signing/digest.h"

namespace kin::cloud {
namespace {

using data::JsonValue;

void write_attribute(JsonWriter& json, const Attribute& attribute) {
  json.begin_object();
  if (const auto* text = std::get_if<std::string>(&attribute))
    json.field("S", *text);
  else if (const auto* number = std::get_if<std::int64_t>(&attribute))
    json.field("N", std::to_string(*number));
  else if (const auto* binary = std::get_if<Binary>(&attribute))
    json.field("B", to_base64(binary->bytes));
  else
    json.field("BOOL", std::get<bool>(attribute));
  json.end();
}

// Nothing for a type that we do not use.
Result<std::optional<Attribute>> read_attribute(const JsonValue& json) {
  const Error wrong{Code::kDataLoss, "an attribute of an item is malformed"};
  if (json.object() == nullptr || json.object()->size() != 1) return wrong;
  const auto& [type, value] = json.object()->front();
  if (type == "S" && value.string() != nullptr) return std::optional<Attribute>(*value.string());
  if (type == "BOOL" && value.boolean() != nullptr)
    return std::optional<Attribute>(*value.boolean());
  if (type == "N" && value.string() != nullptr) {
    const auto number = parse_number<std::int64_t>(*value.string());
    return number ? std::optional<Attribute>(*number) : std::nullopt;
  }
  if (type == "B" && value.string() != nullptr) {
    auto bytes = from_base64(*value.string());
    if (!bytes) return wrong;
    return std::optional<Attribute>(Binary{std::move(*bytes)});
  }
  const bool known = type == "S" || type == "BOOL" || type == "N" || type == "B";
  if (known) return wrong;
  return std::optional<Attribute>();
}

constexpr std::size_t kUsualQuery = 256;  // bytes of a look-up's body

constexpr std::string_view kTypeNames[] = {"S", "N", "B"};

void write_schema(JsonWriter& json, const KeySchema& schema) {
  json.key("KeySchema").begin_array();
  const auto write = [&](const KeyAttribute& attribute, const char* kind) {
    json.begin_object().field("AttributeName", attribute.name).field("KeyType", kind).end();
  };
  write(schema.partition, "HASH");
  if (schema.sort) write(*schema.sort, "RANGE");
  json.end();
}

void write_definitions(JsonWriter& json, const TableSpec& spec) {
  std::map<std::string, KeyType> types;
  const auto collect = [&](const KeySchema& schema) {
    types.emplace(schema.partition.name, schema.partition.type);
    if (schema.sort) types.emplace(schema.sort->name, schema.sort->type);
  };
  collect(spec.key);
  for (const auto& [name, schema] : spec.indexes) collect(schema);
  json.key("AttributeDefinitions").begin_array();
  for (const auto& [name, type] : types)
    json.begin_object()
        .field("AttributeName", name)
        .field("AttributeType", kTypeNames[static_cast<int>(type)])
        .end();
  json.end();
}

KeySchema read_schema(const JsonValue& json, const std::map<std::string, KeyType>& types) {
  KeySchema schema;
  for (const JsonValue& element : json["KeySchema"].items()) {
    KeyAttribute attribute{.name = std::string(element["AttributeName"].text())};
    if (const auto type = types.find(attribute.name); type != types.end())
      attribute.type = type->second;
    if (element["KeyType"].text() == "HASH")
      schema.partition = attribute;
    else
      schema.sort = attribute;
  }
  return schema;
}

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, type) != names.end();
}

}  // namespace

void write_item(JsonWriter& json, const Item& item) {
  json.begin_object();
  for (const auto& [name, attribute] : item) {
    json.key(name);
    write_attribute(json, attribute);
  }
  json.end();
}

Result<Item> read_item(const JsonValue& json) {
  if (json.object() == nullptr) return Error{Code::kDataLoss, "an item is not an object"};
  Item item;
  for (const auto& [name, value] : *json.object()) {
    KIN_TRY(auto attribute, read_attribute(value));
    if (attribute) item.emplace(name, std::move(*attribute));
  }
  return item;
}

Result<std::vector<Item>> read_items(const JsonValue& json) {
  std::vector<Item> items;
  for (const JsonValue& element : json.items()) {
    KIN_TRY(Item item, read_item(element));
    items.push_back(std::move(item));
  }
  return items;
}

std::string dynamo_error_type(const net::HttpResponse& response) {
  if (response.status == 200) return {};
  const auto json = data::parse_json(response.body);
  if (!json) return {};
  const std::string_view type = (*json)["__type"].text();
  return std::string(type.substr(type.rfind('#') + 1));
}

Verdict judge_dynamo(const net::HttpResponse& response) {
  // The answer may have been damaged in transit.
  const std::string_view given = response.header("x-amz-crc32");
  if (!given.empty() && parse_number<std::uint32_t>(given) != crc32(response.body))
    return Verdict::kRetry;
  if (response.status == 200) return Verdict::kDone;
  const std::string type = dynamo_error_type(response);
  if (is_one_of(type, {"ProvisionedThroughputExceededException", "ThrottlingException",
                       "RequestLimitExceeded", "Throttling", "TooManyRequestsException",
                       "LimitExceededException"}))
    return Verdict::kThrottled;
  if (is_one_of(type, {"RequestTimeTooSkewed", "RequestExpired"})) return Verdict::kSkewed;
  // DynamoDB uses one type for a wrong signature and a wrong time; the message distinguishes them.
  if (type == "InvalidSignatureException") {
    const auto json = data::parse_json(response.body);
    const std::string_view message =
        (*json)["message"].text().empty() ? (*json)["Message"].text() : (*json)["message"].text();
    const bool time = message.find("Signature expired") != std::string_view::npos ||
                      message.find("Signature not yet current") != std::string_view::npos;
    return time ? Verdict::kSkewed : Verdict::kFailed;
  }
  const bool passes = is_one_of(type, {"TransactionConflictException", "InternalServerError",
                                       "TransactionInProgressException", "ServiceUnavailable"});
  return response.status >= 500 || passes ? Verdict::kRetry : Verdict::kFailed;
}

Error dynamo_error(std::string_view what, const Answer& answer) {
  const std::string type = dynamo_error_type(answer.response);
  const auto json = data::parse_json(answer.response.body);
  std::string_view message;
  if (json) message = (*json)["message"].text();
  if (json && message.empty()) message = (*json)["Message"].text();
  const std::string text =
      fmt::format("{}: DynamoDB answered with status {}{}{}{}{}", what, answer.response.status,
                  type.empty() ? "" : " ", type, message.empty() ? "" : ": ", message);
  if (auto error = unfinished(answer.verdict, text)) return *error;
  if (type == "ResourceNotFoundException") return {Code::kNotFound, text};
  const bool refused = is_one_of(
      type, {"ConditionalCheckFailedException", "ResourceInUseException", "AccessDeniedException",
             "InvalidSignatureException", "UnrecognizedClientException"});
  return {refused ? Code::kFailedPrecondition : Code::kInvalidArgument, text};
}

void write_condition(JsonWriter& json, const char* member, const std::optional<Item>& expected,
                     const std::string& partition_name) {
  if (!expected) {
    json.field(member, "attribute_not_exists(#p)");
    json.key("ExpressionAttributeNames").begin_object().field("#p", partition_name).end();
    return;
  }
  // By placeholders, because names may be reserved words.
  std::string text;
  for (std::size_t i = 0; i < expected->size(); ++i)
    text += fmt::format("{}#e{} = :e{}", i == 0 ? "" : " AND ", i, i);
  json.field(member, text).key("ExpressionAttributeNames").begin_object();
  std::size_t number = 0;
  for (const auto& [name, value] : *expected) json.field(fmt::format("#e{}", number++), name);
  json.end().key("ExpressionAttributeValues").begin_object();
  number = 0;
  for (const auto& [name, value] : *expected) {
    json.key(fmt::format(":e{}", number++));
    write_attribute(json, value);
  }
  json.end();
}

std::string create_table_body(const TableSpec& spec) {
  JsonWriter json;
  json.begin_object().field("TableName", spec.name).field("BillingMode", "PAY_PER_REQUEST");
  write_definitions(json, spec);
  write_schema(json, spec.key);
  if (!spec.indexes.empty()) {
    json.key("GlobalSecondaryIndexes").begin_array();
    for (const auto& [name, schema] : spec.indexes) {
      json.begin_object().field("IndexName", name);
      write_schema(json, schema);
      json.key("Projection").begin_object().field("ProjectionType", "ALL").end().end();
    }
    json.end();
  }
  return json.end().take();
}

Result<TableState> read_table(const JsonValue& json) {
  const JsonValue& table = json["Table"];
  std::map<std::string, KeyType> types;
  for (const JsonValue& element : table["AttributeDefinitions"].items()) {
    const auto type = std::ranges::find(kTypeNames, element["AttributeType"].text());
    if (type != std::end(kTypeNames))
      types.emplace(element["AttributeName"].text(),
                    static_cast<KeyType>(type - std::begin(kTypeNames)));
  }
  TableState state;
  state.spec.name = table["TableName"].text();
  state.spec.key = read_schema(table, types);
  state.active = table["TableStatus"].text() == "ACTIVE";
  if (const double* items = table["ItemCount"].number(); items != nullptr && *items >= 0)
    state.items = static_cast<std::uint64_t>(std::min(*items, 1e15));
  for (const JsonValue& index : table["GlobalSecondaryIndexes"].items()) {
    state.spec.indexes.emplace(index["IndexName"].text(), read_schema(index, types));
    // A database that makes indexes at once gives no status.
    const std::string_view status = index["IndexStatus"].text();
    state.active = state.active && (status.empty() || status == "ACTIVE");
  }
  if (state.spec.name.empty() || state.spec.key.partition.name.empty())
    return Error{Code::kDataLoss, "the description of a table has no name or no key"};
  return state;
}

std::string query_body(const DynamoQuery& query) {
  JsonWriter json;
  json.reserve(kUsualQuery);
  json.begin_object().field("TableName", query.table);
  if (!query.index.empty()) json.field("IndexName", query.index);
  json.field("KeyConditionExpression", query.sort_prefix ? "#p = :p AND begins_with(#s, :s)"
                                       : query.sort_from ? "#p = :p AND #s >= :s"
                                                         : "#p = :p");
  // By placeholders, because names may be reserved words.
  json.key("ExpressionAttributeNames").begin_object().field("#p", query.partition_name);
  if (query.sort_prefix || query.sort_from) json.field("#s", query.sort_name);
  json.end().key("ExpressionAttributeValues").begin_object().key(":p");
  write_attribute(json, query.partition);
  if (query.sort_prefix || query.sort_from) {
    json.key(":s");
    write_attribute(
        json, query.sort_prefix ? Attribute(*query.sort_prefix) : Attribute(*query.sort_from));
  }
  json.end();
  if (query.limit > 0) json.field("Limit", query.limit);
  if (query.consistent) json.field("ConsistentRead", true);
  if (query.after) {
    json.key("ExclusiveStartKey");
    write_item(json, *query.after);
  }
  return json.end().take();
}

Result<ItemPage> read_page(const JsonValue& json) {
  ItemPage page;
  KIN_TRY(page.items, read_items(json["Items"]));
  if (!json["LastEvaluatedKey"].is_null()) {
    KIN_TRY(page.next, read_item(json["LastEvaluatedKey"]));
  }
  return page;
}

}  // namespace kin::cloud
