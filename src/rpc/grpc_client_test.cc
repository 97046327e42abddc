#include "rpc/grpc_client.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "router/testing/shard_client_contract.h"
#include "rpc/testing/loopback_node.h"

namespace kin::rpc {
namespace {

using namespace std::chrono_literals;
using router::CallOptions;
using router::HealthRequest;
using testing::HasSubstr;

std::shared_ptr<NodeConnection> connect(const std::string& address,
                                        const ConnectionOptions& options = {}) {
  auto opened = NodeConnection::open(address, options);
  KIN_CHECK(opened.ok(), "the address is one");
  return std::move(*opened);
}

CallOptions within(std::chrono::nanoseconds time = 1min) {
  return {.deadline = system_clock().steady_now() + time};
}

// Calls until the node answers.
void await(router::ShardClient& client) {
  const CallOptions options = within();
  while (!router::call(client, HealthRequest{}, options).ok())
    KIN_CHECK(system_clock().steady_now() < options.deadline, "the node answers within a minute");
}

class ShardOverGrpc final : public router::ReachableShard {
 public:
  router::ShardClient& client() override { return client_; }
  Clock& clock() override { return system_clock(); }
  void restart() override {
    node_.stop();
    node_.start();
    await(client_);
  }

 private:
  LoopbackNode node_;
  GrpcClient client_{connect(node_.address()), kLoopbackIndex};
};

std::unique_ptr<router::ReachableShard> make_over_grpc() {
  return std::make_unique<ShardOverGrpc>();
}

}  // namespace
}  // namespace kin::rpc

namespace kin::router {
INSTANTIATE_TEST_SUITE_P(OverGrpc, ShardClientContract, testing::Values(&rpc::make_over_grpc));
}  // namespace kin::router

namespace kin::rpc {
namespace {

Code failure(GrpcClient& client, const CallOptions& options = within()) {
  const auto reply = router::call(client, HealthRequest{}, options);
  KIN_CHECK(!reply.ok(), "the call fails");
  return reply.error().code;
}

TEST(GrpcClient, ANodeThatIsAwayIsUnavailableAndIsFoundWhenItIsBack) {
  LoopbackNode node;
  GrpcClient client(connect(node.address()), kLoopbackIndex);
  EXPECT_TRUE(router::call(client, HealthRequest{}, within()).ok());
  node.stop();
  EXPECT_EQ(failure(client), Code::kUnavailable);
  node.start();
  await(client);
}

TEST(GrpcClient, AnAddressIsAHostAndAPort) {
  for (const char* wrong : {"", "localhost", "localhost:", ":7700", "localhost:http"})
    EXPECT_FALSE(NodeConnection::open(wrong).ok()) << wrong;
}

TEST(GrpcClient, AnIndexThatTheNodeDoesNotHaveIsNotFound) {
  LoopbackNode node;
  GrpcClient client(connect(node.address()), "other");
  EXPECT_EQ(failure(client), Code::kNotFound);
}

TEST(GrpcClient, IndexesAreMadeAndListed) {
  LoopbackNode node;
  const auto connection = connect(node.address());
  EXPECT_TRUE(connection->create_index({.name = kLoopbackIndex, .settings = "settings"}).ok());
  const Status other = connection->create_index({.name = kLoopbackIndex, .settings = "others"});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, Code::kFailedPrecondition);
  const auto listed = connection->list_indexes();
  ASSERT_TRUE(listed.ok());
  EXPECT_THAT(*listed, testing::ElementsAre(ServedIndex{kLoopbackIndex, "settings"}));
}

TEST(GrpcClient, WithoutTheTokenOrWithAWrongOneNothingIsServed) {
  const std::string token = "0123456789abcdef";
  LoopbackNode node({.token = token});
  for (const char* wrong : {"", "0123456789abcdeg", "0123456789abcde"}) {
    const auto connection = connect(node.address(), {.token = wrong});
    GrpcClient client(connection, kLoopbackIndex);
    EXPECT_EQ(failure(client), Code::kFailedPrecondition);
    EXPECT_FALSE(connection->list_indexes().ok());
    EXPECT_FALSE(connection->create_index({.name = "new"}).ok());
  }
  GrpcClient client(connect(node.address(), {.token = token}), kLoopbackIndex);
  EXPECT_TRUE(router::call(client, HealthRequest{}, within()).ok());
}

TEST(GrpcClient, MessagesThatAreTooLargeAreRefusedBothWays) {
  const std::string bytes(100'000, 'x');
  const router::StoreBlobRequest store{.hash = hash128(bytes), .bytes = bytes};
  LoopbackNode small({.most_bytes = 10'000});
  GrpcClient sender(connect(small.address()), kLoopbackIndex);
  const auto refused = router::call(sender, store, within());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_TRUE(router::call(sender, HealthRequest{}, within()).ok());

  LoopbackNode node;
  GrpcClient reader(connect(node.address(), {.most_bytes = 10'000}), kLoopbackIndex);
  ASSERT_TRUE(router::call(reader, store, within()).ok());
  const auto large = router::call(reader, router::ReadBlobRequest{.hash = store.hash}, within());
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, Code::kResourceExhausted);
}

// Serves until it is told to go on.
class SlowIndex final : public ServedIndexes {
 public:
  Result<std::shared_ptr<router::ShardHost>> find(const std::string&, const Hash128&) override {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    return Error{Code::kNotFound, "there is none"};
  }
  Status create(const ServedIndex&) override { return Done{}; }
  Status drop(const std::string&, const Hash128&) override { return Done{}; }
  Result<std::vector<ServedIndex>> list() override { return std::vector<ServedIndex>{}; }

  void await_calls(int count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 1min, [&] { return entered_ >= count; }));
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int entered_ = 0;
  bool open_ = false;
};

TEST(GrpcClient, CallsDoNotWaitForEachOtherAndEndAtTheirDeadlineOrWhenTheyAreDropped) {
  SlowIndex slow;
  auto server = NodeServer::start(slow, {});
  ASSERT_TRUE(server.ok());
  GrpcClient client(connect("127.0.0.1:" + std::to_string((*server)->port())), "any");
  auto first = client.start(HealthRequest{}, within());
  auto second = client.start(HealthRequest{}, within());
  slow.await_calls(2);  // start() has not waited, and both are served at once
  {
    const auto dropped = client.start(HealthRequest{}, within());
  }  // does not wait either
  EXPECT_EQ(failure(client, within(50ms)), Code::kUnavailable);
  slow.go_on();
  const auto reply = first.wait();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kNotFound);
  EXPECT_EQ(second.wait().error().code, Code::kNotFound);
}

TEST(GrpcClient, ANodeRefusesMoreCallsThanItCanTake) {
  SlowIndex slow;
  auto server = NodeServer::start(slow, {.most_calls = 1});
  ASSERT_TRUE(server.ok());
  GrpcClient client(connect("127.0.0.1:" + std::to_string((*server)->port())), "any");
  auto first = client.start(HealthRequest{}, within());
  slow.await_calls(1);
  EXPECT_EQ(failure(client), Code::kUnavailable);
  slow.go_on();
  EXPECT_EQ(first.wait().error().code, Code::kNotFound);
  EXPECT_EQ(failure(client), Code::kNotFound);
}

TEST(NodeServer, TwoNodesCannotHaveOnePort) {
  SlowIndex indexes;
  auto first = NodeServer::start(indexes, {});
  ASSERT_TRUE(first.ok());
  const auto second = NodeServer::start(indexes, {.port = (*first)->port()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen"));
}

// A call with any bytes, as somebody else's program would send them.
struct RawAnswer {
  grpc::StatusCode code;
  std::string bytes;
};
RawAnswer raw_call(const std::string& address, const std::string& method,
                   const std::string& bytes) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  RawAnswer answer{.code = status.error_code(), .bytes = {}};
  std::vector<grpc::Slice> slices;
  if (status.ok() && reply.Dump(&slices).ok()) {
    for (const auto& one : slices)
      answer.bytes.append(reinterpret_cast<const char*>(one.begin()), one.size());
  }
  return answer;
}

TEST(NodeServer, BytesThatAreNoMessageAreRefusedAndTheNodeGoesOn) {
  LoopbackNode node;
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff"), std::string(1'000, '\x0a')})
    EXPECT_NE(raw_call(node.address(), "/kindred.v1.Node/Call", bytes).code, grpc::OK);
  // Nothing is asked: the node says so in its reply.
  const RawAnswer empty = raw_call(node.address(), "/kindred.v1.Node/Call", "");
  EXPECT_EQ(empty.code, grpc::OK);
  EXPECT_THAT(empty.bytes, HasSubstr("does not know"));
  EXPECT_EQ(raw_call(node.address(), "/kindred.v1.Node/Other", "").code, grpc::UNIMPLEMENTED);
  GrpcClient client(connect(node.address()), kLoopbackIndex);
  EXPECT_TRUE(router::call(client, HealthRequest{}, within()).ok());
}

TEST(NodeServer, HealthAndReflectionAnswerInTheStandardWay) {
  LoopbackNode node({.token = "0123456789abcdef"});
  const RawAnswer health = raw_call(node.address(), "/grpc.health.v1.Health/Check", "");
  EXPECT_EQ(health.code, grpc::OK);
  EXPECT_EQ(health.bytes, "\x08\x01");  // SERVING
  const RawAnswer services =
      raw_call(node.address(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
               std::string("\x3a\x00", 2));  // list_services
  EXPECT_EQ(services.code, grpc::OK);
  EXPECT_THAT(services.bytes, HasSubstr("kindred.v1.Node"));
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A key and a certificate for localhost that it signed itself.
TlsIdentity make_identity(const std::filesystem::path& folder) {
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
      (folder / "key.pem").string() + " -out " + (folder / "cert.pem").string() + " 2>/dev/null";
  KIN_CHECK(std::system(command.c_str()) == 0, "openssl makes a certificate");
  return {.certificate = read_all(folder / "cert.pem"), .key = read_all(folder / "key.pem")};
}

TEST(NodeServer, TlsIsSpokenWithPeersThatTrustTheCertificate) {
  const TemporaryFolder mine = std::move(*TemporaryFolder::create());
  const TemporaryFolder others = std::move(*TemporaryFolder::create());
  const TlsIdentity identity = make_identity(mine.path());
  LoopbackNode node({.tls = identity});
  GrpcClient trusting(connect(node.address(), {.trusted = identity.certificate}), kLoopbackIndex);
  EXPECT_TRUE(router::call(trusting, HealthRequest{}, within()).ok());
  GrpcClient plain(connect(node.address()), kLoopbackIndex);
  EXPECT_EQ(failure(plain, within(2s)), Code::kUnavailable);
  const std::string stranger = make_identity(others.path()).certificate;
  GrpcClient wary(connect(node.address(), {.trusted = stranger}), kLoopbackIndex);
  EXPECT_EQ(failure(wary, within(2s)), Code::kUnavailable);
}

TEST(NodeServer, AKeyThatIsNoneIsRefused) {
  SlowIndex indexes;
  EXPECT_FALSE(NodeServer::start(indexes, {.tls = TlsIdentity{"no certificate", "no key"}}).ok());
}

}  // namespace
}  // namespace kin::rpc
