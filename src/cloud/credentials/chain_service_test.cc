// Credentials from real files and from metadata services that run as servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "cloud/credentials/chain.h"
#include "cloud/testing/services.h"
#include "data/timestamp.h"

namespace kin::cloud {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

std::string access_key(CredentialChain& chain) {
  const auto found = chain.get();
  return found ? found->access_key : "error: " + found.error().message;
}

class CredentialChainTest : public ::testing::Test {
 protected:
  // When the n-th credentials of the services expire.
  std::string after(std::chrono::minutes time) const {
    return data::format_timestamp(
        std::chrono::floor<std::chrono::seconds>(clock_.now() + time).time_since_epoch().count());
  }

  ManualClock clock_;
  TemporaryFolder home_ = TemporaryFolder::create().value();
};

TEST_F(CredentialChainTest, TakesKeysFromTheEnvironment) {
  CredentialChain chain({.environment = environment_of({{"AWS_ACCESS_KEY_ID", "AK"},
                                                        {"AWS_SECRET_ACCESS_KEY", "S"},
                                                        {"AWS_SESSION_TOKEN", "T"}})},
                        clock_);
  EXPECT_EQ(*chain.get(),
            (AwsCredentials{.access_key = "AK", .secret_key = "S", .session_token = "T"}));
  CredentialChain half({.environment = environment_of({{"AWS_ACCESS_KEY_ID", "AK"}})}, clock_);
  EXPECT_THAT(access_key(half), HasSubstr("AWS_SECRET_ACCESS_KEY is not"));
}

TEST_F(CredentialChainTest, TakesKeysFromProfiles) {
  std::filesystem::create_directory(home_.path() / ".aws");
  ASSERT_TRUE(write_file_atomically(home_.path() / ".aws/credentials",
                                    "[default]\naws_access_key_id=D\naws_secret_access_key=S\n"
                                    "[work]\naws_access_key_id=W\naws_secret_access_key=S\n")
                  .ok());
  ASSERT_TRUE(write_file_atomically(home_.path() / ".aws/config",
                                    "[profile other]\naws_access_key_id=O\n"
                                    "aws_secret_access_key=S\n[profile empty]\nregion=x\n")
                  .ok());
  std::map<std::string, std::string> variables{{"HOME", home_.path()}};
  const auto key = [&](const std::string& profile) {
    CredentialChain chain({.profile = profile, .environment = environment_of(variables)}, clock_);
    return access_key(chain);
  };
  EXPECT_EQ(key(""), "D");
  EXPECT_EQ(key("work"), "W");
  EXPECT_EQ(key("other"), "O");
  EXPECT_THAT(key("empty"), HasSubstr("\"empty\" has no aws_access_key_id"));
  EXPECT_THAT(key("absent"), HasSubstr("no AWS profile \"absent\""));
  variables["AWS_PROFILE"] = "work";
  EXPECT_EQ(key(""), "W");
  // Keys in the environment have priority over a profile there, but not over a requested one.
  variables.insert({{"AWS_ACCESS_KEY_ID", "E"}, {"AWS_SECRET_ACCESS_KEY", "S"}});
  EXPECT_EQ(key(""), "E");
  EXPECT_EQ(key("other"), "O");
}

TEST_F(CredentialChainTest, ReplacesInstanceCredentialsBeforeTheyExpire) {
  const auto server = start_program("metadata.py", {after(60min), after(120min)});
  CredentialChain chain({.environment = environment_of({}), .instance_url = server->url("")},
                        clock_);
  const auto first = chain.get();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->session_token, "TOKEN1");
  clock_.advance(54min);
  EXPECT_EQ(access_key(chain), "AK1");
  clock_.advance(1min);
  EXPECT_EQ(access_key(chain), "AK2");
  // From here on the service fails. The last credentials are used until they expire.
  clock_.advance(64min);
  EXPECT_EQ(access_key(chain), "AK2");
  clock_.advance(1min);
  EXPECT_THAT(access_key(chain), AllOf(HasSubstr("no AWS credentials found"),
                                       HasSubstr("status 500"), Not(HasSubstr("SECRET2"))));
}

TEST_F(CredentialChainTest, TakesTheCredentialsOfAContainer) {
  const auto server = start_program("metadata.py", {after(60min), after(60min), after(60min)});
  CredentialChain relative(
      {.environment = environment_of({{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/container"}}),
       .container_url = server->url("")},
      clock_);
  EXPECT_EQ(access_key(relative), "AK1");
  std::map<std::string, std::string> variables{
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", server->url("/guarded")},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN", "let-me-in"}};
  CredentialChain full({.environment = environment_of(variables)}, clock_);
  EXPECT_EQ(access_key(full), "AK2");
  ASSERT_TRUE(write_file_atomically(home_.path() / "token", "let-me-in\n").ok());
  variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", server->url("/guarded")},
               {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", home_.path() / "token"}};
  CredentialChain with_file({.environment = environment_of(variables)}, clock_);
  EXPECT_EQ(access_key(with_file), "AK3");
}

TEST_F(CredentialChainTest, SendsNoTokenOfAContainerToAnyHost) {
  CredentialChain chain({.environment = environment_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                                         "http://192.0.2.1/credentials"}})},
                        clock_);
  EXPECT_THAT(access_key(chain), HasSubstr("must not be connected to"));
}

TEST_F(CredentialChainTest, DoesNotAskTheInstanceIfToldNotTo) {
  CredentialChain chain({.environment = environment_of({{"AWS_EC2_METADATA_DISABLED", "true"}})},
                        clock_);
  EXPECT_THAT(access_key(chain), HasSubstr("AWS_EC2_METADATA_DISABLED"));
}

}  // namespace
}  // namespace kin::cloud
