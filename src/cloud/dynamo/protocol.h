// The wire format of DynamoDB: items, errors, tables. Its numbers are text and its bytes are
// base64.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "cloud/calls/caller.h"
#include "cloud/dynamo_client.h"
#include "data/json_value.h"

namespace kin::cloud {

void write_item(JsonWriter& json, const Item& item);
// kDataLoss if it is not an item.
Result<Item> read_item(const data::JsonValue& json);
Result<std::vector<Item>> read_items(const data::JsonValue& json);

// "ResourceNotFoundException" of "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException";
// empty if the answer has none.
std::string dynamo_error_type(const net::HttpResponse& response);
Verdict judge_dynamo(const net::HttpResponse& response);
// The error for an answer that is not a success, in plain words.
Error dynamo_error(std::string_view what, const Answer& answer);

// Writes the members of a request that make `member` (ConditionExpression, FilterExpression) true
// for items that have the attributes `expected`; without, for items that do not exist.
void write_condition(JsonWriter& json, const char* member, const std::optional<Item>& expected,
                     const std::string& partition_name);

// The body of CreateTable.
std::string create_table_body(const TableSpec& spec);
// The answer of DescribeTable.
Result<TableState> read_table(const data::JsonValue& json);
// The body of Query.
std::string query_body(const DynamoQuery& query);
Result<ItemPage> read_page(const data::JsonValue& json);

}  // namespace kin::cloud
