#include "server/tenants/tenants.h"

#include <gmock/gmock.h>

#include "base/ascii.h"
#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "server/http/gatekeeper.h"

namespace kin::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class TenantsTest : public testing::Test {
 protected:
  void write(const std::string& quotas, const std::string& token = "acme-token") {
    const std::string text =
        R"({"tenant": "acme", "token_sha256": ")" + to_hex(sha256(token)) + "\"" + quotas + "}\n";
    ASSERT_TRUE(write_file_atomically(file(), text).ok());
  }
  void open(const std::string& quotas) {
    write(quotas);
    auto opened = Tenants::open(file(), clock_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    tenants_ = std::move(*opened);
    tenants_->measure_by([this](const std::string& tenant) -> Result<Usage> {
      EXPECT_EQ(tenant, "acme");
      ++measured_;
      return used_;
    });
  }
  std::filesystem::path file() const { return folder_.path() / "tenants.jsonl"; }
  // Writes documents of which `fresh` are new; the status, 200 if they fit.
  int add(std::uint64_t documents, std::uint64_t fresh, std::uint64_t bytes = 0) {
    Usage write{.entities = documents, .bytes = bytes};
    const auto refusal =
        tenants_->reserve("acme", write, [&]() -> Result<std::uint64_t> { return fresh; });
    if (refusal) {
      words_ = refusal->body;
      return refusal->status;
    }
    used_.entities += fresh;
    used_.bytes += bytes;
    tenants_->settle("acme", write);
    return 200;
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  ManualClock clock_;
  std::unique_ptr<Tenants> tenants_;
  Usage used_;
  int measured_ = 0;
  std::string words_;
};

TEST_F(TenantsTest, ARequestTooManyIsToldWhenToComeAgain) {
  open(R"(, "queries_per_second": 2)");
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_FALSE(tenants_->count_request("acme"));
  const auto refusal = tenants_->count_request("acme");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 429);
  EXPECT_EQ(net::find_header(refusal->headers, "Retry-After"), "1");
  EXPECT_THAT(refusal->body, HasSubstr("2 requests a second"));
  clock_.advance(500ms);
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_TRUE(tenants_->count_request("acme"));
  clock_.advance(1h);  // what was not used is not saved up
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_TRUE(tenants_->count_request("acme"));
}

TEST_F(TenantsTest, ASlowRateWaitsAsLongAsItTakes) {
  open(R"(, "queries_per_second": 0.1)");
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_EQ(net::find_header(tenants_->count_request("acme")->headers, "Retry-After"), "10");
}

TEST_F(TenantsTest, DocumentsBeyondTheQuotaAreRefused) {
  open(R"(, "entities": 10)");
  EXPECT_EQ(add(8, 8), 200);
  EXPECT_EQ(add(3, 3), 403);
  EXPECT_THAT(words_, HasSubstr("has 8 of its 10 documents, and 3 more do not fit"));
  EXPECT_THAT(words_, HasSubstr("remove documents"));
  EXPECT_EQ(add(3, 2), 200) << "one replaces another";
  EXPECT_EQ(add(10, 0), 200) << "all replace others";
  EXPECT_EQ(add(1, 1), 403);
  used_.entities = 5;  // some were removed
  clock_.advance(1s);
  EXPECT_EQ(add(5, 5), 200);
  EXPECT_EQ(add(1, 1), 403);
}

TEST_F(TenantsTest, WhatOtherRoutersWroteIsSeenAfterAWhile) {
  open(R"(, "entities": 10)");
  EXPECT_EQ(add(1, 1), 200);
  used_.entities = 10;
  clock_.advance(6s);
  EXPECT_EQ(add(1, 1), 403);
}

TEST_F(TenantsTest, WritesThatAreRunningCount) {
  open(R"(, "entities": 10)");
  Usage running{.entities = 9};
  Usage more{.entities = 2};
  const auto all_new = []() -> Result<std::uint64_t> { return 2; };
  EXPECT_FALSE(tenants_->reserve("acme", running, all_new));
  EXPECT_TRUE(tenants_->reserve("acme", more, all_new));
}

TEST_F(TenantsTest, BytesHaveAQuotaOfTheirOwn) {
  open(R"(, "bytes": 1000)");
  EXPECT_EQ(add(1, 1, 900), 200);
  EXPECT_EQ(add(1, 1, 200), 403);
  EXPECT_THAT(words_, HasSubstr("has 900 of its 1000 bytes"));
}

TEST_F(TenantsTest, WithoutQuotasNothingIsMeasured) {
  open("");
  EXPECT_EQ(add(1'000'000, 1'000'000, 1'000'000'000), 200);
  EXPECT_FALSE(tenants_->count_request("acme"));
  EXPECT_EQ(measured_, 0);
}

TEST_F(TenantsTest, AFileThatChangedIsTakenOverAndOneThatIsWrongIsNot) {
  open("");
  EXPECT_EQ(tenants_->of_token("acme-token"), "acme");
  write(R"(, "weight": 7)", "next-token");
  ASSERT_TRUE(tenants_->refresh().ok());
  EXPECT_FALSE(tenants_->of_token("acme-token"));
  EXPECT_EQ(tenants_->of_token("next-token"), "acme");
  EXPECT_EQ(tenants_->weight_of("acme"), 7U);
  ASSERT_TRUE(write_file_atomically(file(), "{").ok());
  EXPECT_FALSE(tenants_->refresh().ok());
  ASSERT_TRUE(write_file_atomically(file(), "").ok());
  EXPECT_FALSE(tenants_->refresh().ok());
  EXPECT_EQ(tenants_->of_token("next-token"), "acme");
}

}  // namespace
}  // namespace kin::server
