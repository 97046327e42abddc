// RespClient against Redis, with and without TLS and a password.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "cloud/resp_client.h"
#include "cloud/testing/services.h"

namespace kin::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = RespValue::Kind;
using namespace std::chrono_literals;

class RespClientTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam())
      start({"--secure", folder_.path().string(), "--password", "pass word"});
    else
      start({});
  }
  void start(const std::vector<std::string>& arguments) {
    server_ = start_service("redis", arguments);
    options_ = {
        .port = static_cast<std::uint16_t>(server_->port()), .connect = 1min, .answer = 1min};
    if (!GetParam()) return;
    options_.tls = true;
    options_.ca_file = folder_.path() / "cert.pem";
    options_.password = "pass word";
  }

  TemporaryFolder folder_ = TemporaryFolder::create().value();
  std::unique_ptr<net::TestServer> server_;
  RespOptions options_;
};

TEST_P(RespClientTest, SendsManyCommandsInOneRoundTrip) {
  RespClient client(options_);
  std::vector<RespCommand> commands;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key" + std::to_string(i);
    commands.push_back({"SET", key, std::string(static_cast<std::size_t>(i), '\0'), "EX", "100"});
    commands.push_back({"GET", key});
  }
  commands.push_back({"GET", "absent"});
  commands.push_back({"INCR", "key1"});
  commands.push_back({"MGET", "key0", "absent"});
  const auto replies = client.call(commands);
  ASSERT_TRUE(replies.ok()) << replies.error().message;
  ASSERT_THAT(*replies, SizeIs(commands.size()));
  for (std::size_t i = 0; i < 2000; ++i)
    EXPECT_EQ((*replies)[2 * i + 1],
              (RespValue{.kind = Kind::kText, .text = std::string(i, '\0')}));
  EXPECT_EQ((*replies)[4000].kind, Kind::kNothing);
  // An error of one command does not affect the others.
  EXPECT_EQ((*replies)[4001].kind, Kind::kError);
  EXPECT_THAT((*replies)[4002].items, SizeIs(2));
}

// More than the buffers of both sides hold: a client that only writes would block for ever.
TEST_P(RespClientTest, ReadsWhileItWrites) {
  RespClient client(options_);
  const std::string large(1 << 20, 'x');
  const std::vector<RespCommand> commands(64, {"ECHO", large});
  const auto replies = client.call(commands);
  ASSERT_TRUE(replies.ok()) << replies.error().message;
  for (const RespValue& reply : *replies) EXPECT_EQ(reply.text.size(), large.size());
}

TEST_P(RespClientTest, ServesThreads) {
  RespClient client(options_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string text = std::to_string(t * 1000 + i);
        const auto reply = client.call(RespCommand{"ECHO", text});
        EXPECT_TRUE(reply.ok() && reply->text == text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(RespClientTest, ConnectsAgainAfterAFailure) {
  RespClient client(options_);
  ASSERT_TRUE(client.call(RespCommand{"PING"}).ok());
  // The server closes the connection after its answer.
  ASSERT_TRUE(client.call(RespCommand{"QUIT"}).ok());
  EXPECT_EQ(client.call(RespCommand{"PING"}).error().code, Code::kUnavailable);
  EXPECT_TRUE(client.call(RespCommand{"PING"}).ok());
}

TEST_P(RespClientTest, DoesNotWaitForEver) {
  RespClient patient(options_);
  options_.answer = 50ms;
  RespClient client(options_);
  const auto late = client.call(RespCommand{"BLPOP", "never", "0"});
  EXPECT_EQ(late.error().code, Code::kUnavailable);
  // Its late reply is not taken for that of the next call.
  EXPECT_TRUE(patient.call(RespCommand{"LPUSH", "never", "x"}).ok());
  for (auto reply = client.call(RespCommand{"ECHO", "mine"});;
       reply = client.call(RespCommand{"ECHO", "mine"})) {
    if (!reply.ok()) continue;  // a busy machine may need longer than the limit
    EXPECT_EQ(reply->text, "mine");
    break;
  }
}

TEST_P(RespClientTest, SaysWhatIsWrong) {
  RespOptions wrong = options_;
  wrong.port = 1;
  EXPECT_EQ(RespClient(wrong).call(RespCommand{"PING"}).error().code, Code::kUnavailable);
  RespClient client(options_);
  EXPECT_THAT(client.call(RespCommand{"NONSENSE"}).error().message,
              HasSubstr("NONSENSE: ERR unknown command"));
  if (!GetParam()) return;
  wrong = options_;
  wrong.password = "another";
  const auto refused = RespClient(wrong).call(RespCommand{"PING"});
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("WRONGPASS"));
  wrong = options_;
  wrong.ca_file.clear();
  const auto untrusted = RespClient(wrong).call(RespCommand{"PING"});
  EXPECT_EQ(untrusted.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(untrusted.error().message, HasSubstr("certificate is not trusted"));
  wrong = options_;
  wrong.host = "localhost";
  EXPECT_TRUE(RespClient(wrong).call(RespCommand{"PING"}).ok());
}

INSTANTIATE_TEST_SUITE_P(Transports, RespClientTest, ::testing::Bool(),
                         [](const auto& tls) { return tls.param ? "TlsAndPassword" : "Plain"; });

}  // namespace
}  // namespace kin::cloud
