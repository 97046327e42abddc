#include "router/meta/etcd_messages.h"

#include <gmock/gmock.h>

#include "router/etcd_meta_store.h"

namespace kin::router {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(EtcdMessages, TheEndOfAPrefixIsTheNextText) {
  EXPECT_EQ(prefix_end("map/"), "map0");
  EXPECT_EQ(prefix_end("a\xff"), "b");
  EXPECT_EQ(prefix_end("\xff\xff"), std::string(1, '\0'));
}

TEST(EtcdMessages, RequestsHaveBytesInBase64AndNumbersAsTexts) {
  EXPECT_EQ(range_request({.key = "map/", .end = "map0", .least = 7}),
            R"({"key":"bWFwLw==","range_end":"bWFwMA==","min_mod_revision":"7"})");
  EXPECT_EQ(swap_request({.key = "a", .value = etcd_value("x")}),
            R"({"compare":[{"key":"YQ==","target":"MOD","result":"EQUAL","mod_revision":"0"}],)"
            R"("success":[{"request_put":{"key":"YQ==","value":"AXg="}}]})");
  EXPECT_THAT(swap_request({.key = "a", .revision = 3, .value = etcd_value({})}),
              HasSubstr(R"("target":"VALUE","result":"NOT_EQUAL","value":"AA==")"));
}

TEST(EtcdMessages, AnswersAreRead) {
  const auto range =
      parse_range(R"({"header":{"revision":"5"},"kvs":[)"
                  R"({"key":"YQ==","mod_revision":"4","value":"AXg="},)"
                  R"({"key":"Yg==","mod_revision":"5","value":"AA=="}],"count":"2"})");
  ASSERT_TRUE(range.ok()) << range.error().message;
  EXPECT_EQ(range->revision, 5U);
  ASSERT_EQ(range->rows.size(), 2U);
  EXPECT_EQ(range->rows[0].row, (MetaRow{.revision = 4, .bytes = "x"}));
  EXPECT_EQ(range->rows[1].row, (MetaRow{.revision = 5}));
  EXPECT_FALSE(parse_swap(R"({"header":{"revision":"5"}})")->succeeded);
  EXPECT_TRUE(parse_swap(R"({"header":{"revision":"5"},"succeeded":true})")->succeeded);
}

TEST(EtcdMessages, AnswersThatAreNotEtcdsAreRefused) {
  for (const char* wrong :
       {"", "{}", "[1]", R"({"header":{"revision":"x"}})",
        R"({"header":{"revision":"5"},"kvs":[{"key":"?","value":"AXg=","mod_revision":"4"}]})",
        R"({"header":{"revision":"5"},"kvs":[{"key":"YQ==","value":"AXg="}]})",
        R"({"header":{"revision":"5"},"kvs":[{"key":"YQ==","value":"","mod_revision":"4"}]})"})
    EXPECT_FALSE(parse_range(wrong).ok()) << wrong;
}

TEST(EtcdMessages, ALineOfAWatchIsNewsOrAnEnd) {
  EXPECT_FALSE(parse_watch_line(R"({"result":{"created":true}})")->changed);
  EXPECT_TRUE(parse_watch_line(R"({"result":{"events":[{"kv":{"key":"YQ=="}}]}})")->changed);
  const auto dropped = parse_watch_line(R"({"result":{"canceled":true,"compact_revision":"9"}})");
  EXPECT_TRUE(dropped->changed && dropped->ended);
  EXPECT_EQ(parse_watch_line(R"({"result":{"canceled":true,"cancel_reason":"no"}})")->ended, "no");
  EXPECT_EQ(parse_watch_line(R"({"error":{"grpc_code":14,"message":"gone"}})")->ended, "gone");
}

TEST(EtcdMessages, FailuresHaveACodeAndWords) {
  const EtcdFailure failure = parse_failure(R"({"error":"e","message":"m","code":16})");
  EXPECT_EQ(failure.code, 16);
  EXPECT_EQ(failure.message, "m");
  EXPECT_EQ(parse_failure("<html>").message, "<html>");
}

TEST(EtcdAddress, MembersAndPrefixAreRead) {
  const auto all = parse_etcd_address("etcd://10.0.0.1:2379,etcd.local:2380/my/maps/");
  ASSERT_TRUE(all.ok());
  EXPECT_THAT(all->access.endpoints, ElementsAre("10.0.0.1:2379", "etcd.local:2380"));
  EXPECT_EQ(all->prefix, "my/maps/");
  EXPECT_EQ(parse_etcd_address("etcd://[::1]:2379")->prefix, "kindred/");
  for (const char* wrong : {"", "http://a:1", "etcd://", "etcd:///p", "etcd://host",
                            "etcd://a:1,,b:2", "etcd://a:b", "etcd://user:pw@host:2379"})
    EXPECT_FALSE(parse_etcd_address(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace kin::router
