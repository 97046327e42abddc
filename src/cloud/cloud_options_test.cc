#include "cloud/cloud_options.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

TEST(CloudOptions, AreThoseOfAwsTools) {
  const auto given =
      options_of_environment("S3", environment_of({{"AWS_DEFAULT_REGION", "eu-west-1"},
                                                   {"AWS_ENDPOINT_URL", "http://all"},
                                                   {"AWS_ENDPOINT_URL_S3", "http://s3"}}));
  EXPECT_EQ(given.region, "eu-west-1");
  EXPECT_EQ(given.endpoint, "http://s3");
  const auto other =
      options_of_environment("DYNAMODB", environment_of({{"AWS_REGION", "eu-west-2"},
                                                         {"AWS_DEFAULT_REGION", "eu-west-1"},
                                                         {"AWS_ENDPOINT_URL", "http://all"}}));
  EXPECT_EQ(other.region, "eu-west-2");
  EXPECT_EQ(other.endpoint, "http://all");
  const auto nothing = options_of_environment("S3", environment_of({}));
  EXPECT_EQ(nothing.region, "us-east-1");
  EXPECT_EQ(nothing.endpoint, "");
}

TEST(CloudOptions, TakeTheRegionOfTheProfile) {
  const TemporaryFolder folder = TemporaryFolder::create().value();
  const std::string config = (folder.path() / "config").string();
  ASSERT_TRUE(write_file_atomically(config,
                                    "[default]\nregion = eu-north-1\n"
                                    "[profile work]\nregion = sa-east-1\n")
                  .ok());
  EXPECT_EQ(options_of_environment("S3", environment_of({{"AWS_CONFIG_FILE", config}})).region,
            "eu-north-1");
  EXPECT_EQ(options_of_environment(
                "S3", environment_of({{"AWS_CONFIG_FILE", config}, {"AWS_PROFILE", "work"}}))
                .region,
            "sa-east-1");
}

}  // namespace
}  // namespace kin::cloud
