#include "rpc/node_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "kindred/v1/node.pb.h"
#include "router/testing/shard_client_contract.h"
#include "rpc/testing/loopback_node.h"
#include "rpc/wire/convert.h"

namespace kin::rpc {
namespace {

using namespace std::chrono_literals;

bool answers(const LoopbackNode& node) {
  auto connection = NodeConnection::open(node.address());
  GrpcClient client(std::move(*connection), kLoopbackIndex);
  return router::call(client, router::HealthRequest{},
                      {.deadline = system_clock().steady_now() + 1min})
      .ok();
}

// Sends bytes to the node as they are, and reads until it hangs up or is silent for a moment.
void send_raw(int port, std::string_view bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  ::shutdown(socket, SHUT_WR);
  char answer[4096];
  const timeval patience{.tv_sec = 0, .tv_usec = 20'000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  while (::recv(socket, answer, sizeof answer, 0) > 0) {
  }
  ::close(socket);
}

std::string random_bytes(Random& random, std::size_t most) {
  std::string bytes(random.below(most + 1), '\0');
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

// A frame of HTTP/2 with any contents, whose length may be a lie.
std::string random_frame(Random& random) {
  const std::string payload = random_bytes(random, 300);
  const std::uint64_t length = random.below(4) == 0 ? random.next() : payload.size();
  std::string frame;
  for (int shift = 16; shift >= 0; shift -= 8) frame += static_cast<char>(length >> shift);
  frame += static_cast<char>(random.below(12));  // a type, or one that there is not
  frame += static_cast<char>(random.next());
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(i == 3 ? random.below(8) : 0);
  return frame + payload;
}

TEST(NodeServer, AnyBytesMayArriveAtThePortAndTheNodeGoesOn) {
  LoopbackNode node({.token = "0123456789abcdef"});
  LoopbackNode open;
  constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  constexpr std::string_view kSettings("\0\0\0\4\0\0\0\0\0", 9);
  Random random(1);
  for (const LoopbackNode* one : {&node, &open}) {
    const int port = std::stoi(one->address().substr(one->address().rfind(':') + 1));
    for (int i = 0; i < 150; ++i) {
      std::string bytes;
      if (i % 3 > 0) bytes.append(kPreface).append(kSettings);
      if (i % 3 == 2) {
        for (int frame = 0; frame < 10; ++frame) bytes += random_frame(random);
      } else {
        bytes += random_bytes(random, 5'000);
      }
      send_raw(port, bytes);
    }
    send_raw(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    send_raw(port, std::string(200'000, 'A'));
  }
  EXPECT_TRUE(answers(open));
}

// A call over gRPC whose message is any bytes.
grpc::Status call_with(const std::shared_ptr<grpc::Channel>& channel, const std::string& bytes) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  auto call = stub.PrepareUnaryCall(&context, "/kindred.v1.Node/Call", request, &queue);
  call->StartCall();
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

// Calls that were valid before some of their bytes were changed: most of them are read as messages.
TEST(NodeServer, DamagedCallsDoNoHarm) {
  LoopbackNode node;
  const auto channel = grpc::CreateChannel(node.address(), grpc::InsecureChannelCredentials());
  const index::ShardQuery query{.text = index::TextLeg{.query = "tide (sea OR \"moon\")"}};
  const std::vector<router::Request> requests{
      router::OpenSession{},
      router::FindRequest{.query = query},
      router::EdgesRequest{.nodes = {DocId{}}},
      router::ListRequest{.partition = index::PartitionId{1}, .want = {}},
      router::StoreBlobRequest{.hash = hash128("x"), .bytes = "x"},
      router::WriteRequest{.id = {.session = 1, .sequence = 1},
                           .mutations = {index::PutEntity{.partition = index::PartitionId{1}}},
                           .partitions = {index::PartitionId{1}}}};
  Random random(2);
  for (int i = 0; i < 600; ++i) {
    const Call call{.index = kLoopbackIndex,
                    .map_epoch = 5,
                    .request = requests[random.below(requests.size())]};
    kindred::v1::CallRequest message;
    to_wire(call, message);
    std::string bytes = message.SerializeAsString();
    for (std::uint64_t changes = random.below(6); changes > 0; --changes)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    if (random.below(8) == 0) bytes.resize(random.below(bytes.size()));
    const grpc::Status status = call_with(channel, bytes);
    EXPECT_NE(status.error_code(), grpc::UNAVAILABLE) << status.error_message();
  }
  EXPECT_TRUE(answers(node));
}

}  // namespace
}  // namespace kin::rpc
