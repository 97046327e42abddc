#include "cloud/dynamo/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cloud/signing/digest.h"

namespace kin::cloud {
namespace {

using ::testing::HasSubstr;

net::HttpResponse answer_of(int status, const std::string& body,
                            std::vector<net::Header> headers = {}) {
  net::HttpResponse response;
  response.status = status;
  response.body = body;
  response.headers = std::move(headers);
  return response;
}

Verdict verdict_of(int status, const std::string& type, const std::string& message = "") {
  return judge_dynamo(answer_of(status, R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + type +
                                            R"(","message":")" + message + "\"}"));
}

TEST(DynamoProtocol, WritesAndReadsItems) {
  const Item item{{"s", std::string("\u00e9\"\n")},
                  {"n", std::int64_t{-9'007'199'254'740'993}},
                  {"b", Binary{std::string("\0\xff", 2)}},
                  {"t", true}};
  JsonWriter json;
  write_item(json, item);
  EXPECT_EQ(json.text(),
            "{\"b\":{\"B\":\"AP8=\"},\"n\":{\"N\":\"-9007199254740993\"},"
            "\"s\":{\"S\":\"\u00e9\\\"\\n\"},\"t\":{\"BOOL\":true}}");
  EXPECT_EQ(*read_item(*data::parse_json(json.text())), item);
}

TEST(DynamoProtocol, LeavesOutTypesItHasNoUseFor) {
  const auto item = read_item(*data::parse_json(
      R"({"l":{"L":[]},"u":{"NULL":true},"f":{"N":"1.5"},"s":{"SS":["a"]},"k":{"S":"v"}})"));
  EXPECT_EQ(*item, (Item{{"k", std::string("v")}}));
  for (const char* wrong : {R"([])", R"({"a":1})", R"({"a":{}})", R"({"a":{"S":1}})",
                            R"({"a":{"B":"?"}})", R"({"a":{"S":"x","N":"1"}})"})
    EXPECT_EQ(read_item(*data::parse_json(wrong)).error().code, Code::kDataLoss) << wrong;
}

TEST(DynamoProtocol, JudgesAnswersByTheirType) {
  EXPECT_EQ(judge_dynamo(answer_of(200, "{}")), Verdict::kDone);
  // Throttling has the status of a wrong request.
  EXPECT_EQ(verdict_of(400, "ProvisionedThroughputExceededException"), Verdict::kThrottled);
  EXPECT_EQ(verdict_of(400, "ThrottlingException"), Verdict::kThrottled);
  EXPECT_EQ(verdict_of(400, "ConditionalCheckFailedException"), Verdict::kFailed);
  EXPECT_EQ(verdict_of(400, "ValidationException"), Verdict::kFailed);
  EXPECT_EQ(verdict_of(500, "InternalServerError"), Verdict::kRetry);
  EXPECT_EQ(judge_dynamo(answer_of(503, "<html>")), Verdict::kRetry);
  EXPECT_EQ(verdict_of(403, "InvalidSignatureException", "Signature expired: 2015"),
            Verdict::kSkewed);
  EXPECT_EQ(verdict_of(403, "InvalidSignatureException", "does not match"), Verdict::kFailed);
}

TEST(DynamoProtocol, AsksAgainForADamagedAnswer) {
  const std::string right = std::to_string(crc32("{}"));
  EXPECT_EQ(judge_dynamo(answer_of(200, "{}", {{"x-amz-crc32", right}})), Verdict::kDone);
  EXPECT_EQ(judge_dynamo(answer_of(200, "{ ", {{"x-amz-crc32", right}})), Verdict::kRetry);
  EXPECT_EQ(judge_dynamo(answer_of(400, "{ ", {{"x-amz-crc32", right}})), Verdict::kRetry);
}

TEST(DynamoProtocol, NamesReservedWordsByPlaceholders) {
  const std::string body = query_body({.table = "t",
                                       .index = "source-index",
                                       .partition_name = "source",
                                       .partition = std::string("x"),
                                       .sort_prefix = "run#"});
  EXPECT_THAT(body, HasSubstr("#p = :p AND begins_with(#s, :s)"));
  EXPECT_THAT(body, HasSubstr(R"("ExpressionAttributeNames":{"#p":"source","#s":"sk"})"));
}

TEST(DynamoProtocol, ReadsWhatItWritesOfTables) {
  const TableSpec spec{
      .name = "t",
      .key = {.partition = {.name = "pk"}, .sort = KeyAttribute{.name = "sk"}},
      .indexes = {
          {"i", {.partition = {.name = "a"}, .sort = KeyAttribute{"n", KeyType::kNumber}}}}};
  // A description has the members of a request to create.
  const auto state = read_table(*data::parse_json("{\"Table\":" + create_table_body(spec) + "}"));
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->spec.key, spec.key);
  EXPECT_EQ(state->spec.indexes, spec.indexes);
  EXPECT_FALSE(state->active);
}

}  // namespace
}  // namespace kin::cloud
