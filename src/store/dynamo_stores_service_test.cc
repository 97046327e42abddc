// Properties of stores in DynamoDB alone. contracts_service_test.cc has the common contract.
#include "store/dynamo_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "store/testing/documents.h"
#include "store/testing/places.h"
#include "store/testing/racing_workers.h"

namespace kin::store {
namespace {

TEST(DynamoFingerprints, WorkersKeepOneOfTheDuplicatesThatArriveTogether) {
  for (const char* name : {"dynoxide", "proxy"}) {
    DynamoDatabase database(name);
    const DynamoStoreOptions options = database.options({}, system_clock());
    ASSERT_TRUE(create_dynamo_fingerprints(options).ok());
    expect_workers_keep_one_of_neighbours([&](std::size_t worker) {
      DynamoStoreOptions own = options;
      own.seed = 100 + worker;
      return *open_dynamo_fingerprints(own, some_parameters());
    });
  }
}

TEST(DynamoFingerprints, KeepTextsThatAreLongerThanAnItem) {
  DynamoDatabase database("dynoxide");
  ManualClock clock;
  const DynamoStoreOptions options = database.options({}, clock);
  ASSERT_TRUE(create_dynamo_fingerprints(options).ok());
  const auto store = *open_dynamo_fingerprints(options, some_parameters());
  Fingerprint large = document("large");
  large.packed_text = std::string(1'000'000, '\0');
  const std::vector<Fingerprint> batch{large};
  const std::vector<std::size_t> chosen{0};
  ASSERT_TRUE(store->admit(batch, *store->find(batch), chosen, never()).ok());
  EXPECT_TRUE((*store->get(std::span(&large.doc, 1)))[0] == large);
}

TEST(DynamoFingerprints, SayThatTheirTablesAreMissing) {
  DynamoDatabase database("dynoxide");
  const DynamoStoreOptions options = database.options({}, system_clock());
  EXPECT_EQ(open_dynamo_fingerprints(options).error().code, Code::kNotFound);
  EXPECT_EQ(open_dynamo_ledger(options).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace kin::store
