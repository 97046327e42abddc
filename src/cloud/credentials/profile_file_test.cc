#include "cloud/credentials/profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ProfileFile, ReadsSettingsOfProfiles) {
  EXPECT_THAT(parse_profiles("# mine\n[default]\naws_access_key_id = AK\n"
                             "aws_secret_access_key=a/b+c=#x ; not this\r\n\n"
                             "[profile work]\nRegion = eu-west-1\n"),
              ElementsAre(Pair("default", ElementsAre(Pair("aws_access_key_id", "AK"),
                                                      Pair("aws_secret_access_key", "a/b+c=#x"))),
                          Pair("work", ElementsAre(Pair("region", "eu-west-1")))));
}

TEST(ProfileFile, IgnoresNestedSettingsAndOtherLines) {
  EXPECT_THAT(
      parse_profiles("stray = 1\n[default]\ns3 =\n  addressing_style = path\nnoise\n[bad\nx=1\n"),
      ElementsAre(Pair("default", ElementsAre(Pair("s3", "")))));
  EXPECT_THAT(parse_profiles(""), IsEmpty());
}

}  // namespace
}  // namespace kin::cloud
