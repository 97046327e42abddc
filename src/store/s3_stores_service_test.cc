// Properties of stores in S3 alone. contracts_service_test.cc has the common contract.
#include "store/s3_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/testing/documents.h"
#include "store/testing/places.h"
#include "store/testing/racing_workers.h"

namespace kin::store {
namespace {

TEST(S3Fingerprints, WorkersKeepOneOfTheDuplicatesThatArriveTogether) {
  for (const char* name : {"S3rver", "Faults"}) {
    S3Area place(name);
    const S3StoreOptions options = place.options({}, system_clock());
    expect_workers_keep_one_of_neighbours([&](std::size_t worker) {
      S3StoreOptions own = options;
      own.seed = 100 + worker;
      return *open_s3_fingerprints(own, some_parameters());
    });
  }
}

TEST(S3Fingerprints, SayThatTheyAreMissing) {
  S3Area place("S3rver");
  S3StoreOptions options = place.options({}, system_clock());
  options.must_exist = true;
  EXPECT_EQ(open_s3_fingerprints(options).error().code, Code::kNotFound);
  EXPECT_EQ(open_s3_ledger(options).error().code, Code::kNotFound);
  options.bucket.bucket = "no-such-bucket";
  EXPECT_EQ(open_s3_fingerprints(options, some_parameters()).error().code, Code::kNotFound);
  ASSERT_TRUE(create_s3_bucket(options).ok());
  EXPECT_TRUE(open_s3_fingerprints(options, some_parameters()).ok());
}

TEST(S3Fingerprints, AreNotMadeWhereConditionsAreIgnored) {
  const auto s3rver = cloud::start_service("s3rver", {"bucket"});
  S3Area place("S3rver");
  S3StoreOptions options = place.options({}, system_clock());
  options.cloud.endpoint = "http://localhost:" + std::to_string(s3rver->port());
  for (int i = 0; i < 2; ++i) {
    const auto refused = open_s3_fingerprints(options, some_parameters());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("ignores \"If-None-Match: *\""));
  }
}

}  // namespace
}  // namespace kin::store
