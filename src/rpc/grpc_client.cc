#include "rpc/grpc_client.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "kindred/v1/node.grpc.pb.h"
#include "rpc/request_id.h"
#include "rpc/wire/convert.h"
#include "rpc/wire/fields.h"
#include "rpc/wire/quiet.h"

namespace kin::rpc {
namespace v1 = kindred::v1;
using router::CallOptions;
using router::Reply;
using router::Response;
using router::Started;

namespace {

constexpr int kFirstReconnectMillis = 100;
constexpr int kLastReconnectMillis = 1'000;

grpc::ChannelArguments channel_arguments(const ConnectionOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.most_bytes));
  arguments.SetMaxSendMessageSize(-1);  // the node decides
  // A node that was started again is found within a second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kLastReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMillis);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const ConnectionOptions& options) {
  if (!options.trusted) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = *options.trusted;
  return grpc::SslCredentials(tls);
}

// The error that a status of gRPC means for the caller of a shard. Repeating a call that failed
// with kUnavailable may help; the others need somebody to change something.
Error error_of(const grpc::Status& status, const std::string& address) {
  const auto say = [&](Code code, std::string_view what) {
    return Error{code, fmt::format("the node at {} {}", address, what)};
  };
  switch (status.error_code()) {
    case grpc::UNAUTHENTICATED:
    case grpc::PERMISSION_DENIED:
      return say(Code::kFailedPrecondition, "refuses the token (use the node's own token)");
    case grpc::RESOURCE_EXHAUSTED:
      return say(
          Code::kResourceExhausted,
          fmt::format("cannot take or give a message of this size: {}", status.error_message()));
    case grpc::UNIMPLEMENTED:
      return say(Code::kFailedPrecondition, "is not a node of Kindred, or an older one");
    case grpc::DEADLINE_EXCEEDED: return say(Code::kUnavailable, "did not answer in time");
    case grpc::CANCELLED: return say(Code::kUnavailable, "did not answer: the call was cancelled");
    default:
      return say(Code::kUnavailable, fmt::format("does not answer: {}", status.error_message()));
  }
}

// How a call ended. The thread of gRPC that ends it and the one that waits share it.
class Ending {
 public:
  void end(grpc::Status with, SteadyTime at) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(with);
    at_ = at;
    ended_.notify_all();
  }
  grpc::Status wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return status_.has_value(); });
    return *status_;
  }
  bool has_ended_by(SteadyTime until) {
    std::unique_lock lock(mutex_);
    return ended_.wait_until(lock, until, [&] { return status_.has_value(); });
  }
  std::optional<SteadyTime> ended_at() const {
    const std::lock_guard lock(mutex_);
    return at_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<grpc::Status> status_;
  std::optional<SteadyTime> at_;
};

// A call with its messages. The context keeps the channel, and a channel must not end on a thread of
// gRPC, which would wait for itself: so only those who wait own it.
struct ShardCall {
  grpc::ClientContext context;
  v1::CallRequest request;
  v1::CallReply answer;
  std::shared_ptr<Ending> ending = std::make_shared<Ending>();
};

// Cancels a call that nobody waits for.
class Waiter {
 public:
  Waiter(std::unique_ptr<ShardCall> call, std::shared_ptr<NodeConnection> node)
      : call_(std::move(call)), node_(std::move(node)) {}
  ~Waiter() {
    if (!call_) return;
    call_->context.TryCancel();
    call_->ending->wait();  // at once: gRPC does not ask the node
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Reply<Response> wait(const std::function<void(std::chrono::milliseconds)>& on_behind) {
    const auto call = std::exchange(call_, nullptr);
    if (const grpc::Status status = call->ending->wait(); !status.ok())
      return error_of(status, node_->address());
    if (on_behind && call->answer.has_behind_millis())
      on_behind(std::chrono::milliseconds{call->answer.behind_millis()});
    return from_wire(call->answer);
  }
  bool is_ready_by(SteadyTime until) { return call_->ending->has_ended_by(until); }

 private:
  std::unique_ptr<ShardCall> call_;
  std::shared_ptr<NodeConnection> node_;
};

}  // namespace

struct NodeConnection::State {
  std::string address;
  ConnectionOptions options;
  std::unique_ptr<v1::Node::Stub> stub;

  // Deadlines of gRPC are times of the wall clock; this one is near enough for jumps not to matter.
  void prepare(grpc::ClientContext& context, std::chrono::nanoseconds left) const {
    context.set_deadline(std::chrono::system_clock::time_point(
        options.clock->now() + std::chrono::ceil<std::chrono::milliseconds>(left)));
    if (!options.token.empty()) context.AddMetadata("authorization", "Bearer " + options.token);
    if (const std::string& id = current_request_id(); !id.empty())
      context.AddMetadata(kRequestIdField, id);
  }
};

NodeConnection::NodeConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
NodeConnection::~NodeConnection() = default;

const std::string& NodeConnection::address() const {
  return state_->address;
}

Result<std::shared_ptr<NodeConnection>> NodeConnection::open(const std::string& address,
                                                             const ConnectionOptions& options) {
  const std::size_t colon = address.rfind(':');
  const bool is_address = colon != std::string::npos && colon > 0 && colon + 1 < address.size() &&
                          address.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!is_address)
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not the address of a node (use HOST:PORT)", address)};
  keep_libraries_quiet();
  auto state = std::make_unique<State>();
  state->address = address;
  state->options = options;
  state->stub = v1::Node::NewStub(
      grpc::CreateCustomChannel(address, credentials(options), channel_arguments(options)));
  return std::shared_ptr<NodeConnection>(new NodeConnection(std::move(state)));
}

Status NodeConnection::create_index(const ServedIndex& index) {
  grpc::ClientContext context;
  state_->prepare(context, state_->options.timeout);
  v1::CreateIndexRequest request;
  request.set_index(index.name);
  request.set_settings(index.settings);
  v1::CreateIndexReply reply;
  const grpc::Status status = state_->stub->CreateIndex(&context, request, &reply);
  if (!status.ok()) return error_of(status, address());
  if (reply.has_failure()) return with_context(address(), from_wire(reply.failure()));
  return Done{};
}

Status NodeConnection::drop_index(const std::string& index, const Hash128& shard) {
  grpc::ClientContext context;
  state_->prepare(context, state_->options.timeout);
  v1::DropIndexRequest request;
  request.set_index(index);
  request.set_shard(to_bytes(shard));
  v1::DropIndexReply reply;
  const grpc::Status status = state_->stub->DropIndex(&context, request, &reply);
  if (!status.ok()) return error_of(status, address());
  if (reply.has_failure()) return with_context(address(), from_wire(reply.failure()));
  return Done{};
}

Result<std::vector<ServedIndex>> NodeConnection::list_indexes() {
  grpc::ClientContext context;
  state_->prepare(context, state_->options.timeout);
  v1::ListIndexesReply reply;
  const grpc::Status status = state_->stub->ListIndexes(&context, {}, &reply);
  if (!status.ok()) return error_of(status, address());
  if (reply.has_failure()) return with_context(address(), from_wire(reply.failure()));
  std::vector<ServedIndex> indexes;
  for (const v1::ListedIndex& one : reply.indexes())
    indexes.push_back({.name = one.index(), .settings = one.settings()});
  return indexes;
}

Started<Response> GrpcClient::start(router::Request request, const CallOptions& options) {
  const NodeConnection::State& node = *node_->state_;
  const SteadyTime now = node.options.clock->steady_now();
  if (options.deadline <= now) {
    return Started<Response>([]() -> Reply<Response> {
      return Error{Code::kUnavailable, "the time for the request was over before it was sent"};
    });
  }
  auto call = std::make_unique<ShardCall>();
  const bool endless = options.deadline == SteadyTime::max();
  node.prepare(call->context, endless ? node.options.timeout : options.deadline - now);
  to_wire(Call{.index = index_,
               .map_epoch = options.map_epoch,
               .divided = options.divided,
               .shard = options.shard,
               .most_behind = options.most_behind,
               .request = std::move(request)},
          call->request);
  node.stub->async()->Call(&call->context, &call->request, &call->answer,
                           [ending = call->ending, clock = node.options.clock](
                               grpc::Status status) {
                             ending->end(std::move(status), clock->steady_now());
                           });
  const auto ending = call->ending;
  auto waiter = std::make_shared<Waiter>(std::move(call), node_);
  return Started<Response>(
      [waiter, on_behind = options.on_behind] { return waiter->wait(on_behind); },
      [waiter](SteadyTime until) { return waiter->is_ready_by(until); },
      [ending] { return ending->ended_at(); });
}

}  // namespace kin::rpc
