#include "rpc/node_server.h"

#include <fmt/format.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/thread_priority.h"
#include "kindred/v1/node.grpc.pb.h"
#include "rpc/request_id.h"
#include "rpc/wire/convert.h"
#include "rpc/wire/fields.h"
#include "rpc/wire/quiet.h"

namespace kin::rpc {
namespace v1 = kindred::v1;
namespace {

// Takes the same time wherever the two differ.
bool equal_in_constant_time(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned char different = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    different |= static_cast<unsigned char>(one[i] ^ other[i]);
  return different == 0;
}

SteadyTime steady_deadline(const grpc::ServerContext& context, const Clock& clock) {
  const auto deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return SteadyTime::max();
  const auto left = deadline - clock.now();
  // Nobody waits for a day; a greater number may not fit.
  const auto longest = std::chrono::hours{24};
  return clock.steady_now() +
         std::chrono::duration_cast<SteadyTime::duration>(left < longest ? left : longest);
}

class Service final : public v1::Node::Service {
 public:
  Service(ServedIndexes& indexes, const NodeServerOptions& options)
      : indexes_(indexes), options_(options) {}

  grpc::Status Call(grpc::ServerContext* context, const v1::CallRequest* request,
                    v1::CallReply* reply) override {
    return admit(*context, [&] {
      const auto call = from_wire(*request);
      if (!call.ok()) {
        to_wire(router::Reply<router::Response>(call.error()), *reply);
        return grpc::Status::OK;
      }
      // A long reply takes long to write, too.
      by_turns(call->request, [&] {
        std::optional<std::chrono::milliseconds> behind;
        to_wire(answer(*context, *call, behind), *reply);
        if (behind) reply->set_behind_millis(static_cast<std::uint64_t>(behind->count()));
      });
      return grpc::Status::OK;
    });
  }

  grpc::Status CreateIndex(grpc::ServerContext* context, const v1::CreateIndexRequest* request,
                           v1::CreateIndexReply* reply) override {
    return admit(*context, [&] {
      const Status made =
          indexes_.create({.name = request->index(), .settings = request->settings()});
      if (!made.ok()) to_wire(made.error(), *reply->mutable_failure());
      return grpc::Status::OK;
    });
  }

  grpc::Status DropIndex(grpc::ServerContext* context, const v1::DropIndexRequest* request,
                         v1::DropIndexReply* reply) override {
    return admit(*context, [&] {
      Hash128 shard;
      const Status dropped = from_bytes(request->shard(), shard)
                                 ? indexes_.drop(request->index(), shard)
                                 : Status(Error{Code::kInvalidArgument, "not an identity"});
      if (!dropped.ok()) to_wire(dropped.error(), *reply->mutable_failure());
      return grpc::Status::OK;
    });
  }

  grpc::Status ListIndexes(grpc::ServerContext* context, const v1::ListIndexesRequest*,
                           v1::ListIndexesReply* reply) override {
    return admit(*context, [&] {
      const auto listed = indexes_.list();
      if (!listed.ok()) {
        to_wire(listed.error(), *reply->mutable_failure());
        return grpc::Status::OK;
      }
      for (const ServedIndex& one : *listed) {
        v1::ListedIndex& index = *reply->add_indexes();
        index.set_index(one.name);
        index.set_settings(one.settings);
      }
      return grpc::Status::OK;
    });
  }

 private:
  // Runs `serve` if the caller may call and there is room.
  template <typename Serve>
  grpc::Status admit(const grpc::ServerContext& context, const Serve& serve) {
    if (!may_call(context)) return {grpc::UNAUTHENTICATED, "the token is missing or wrong"};
    if (context.IsCancelled()) return {grpc::CANCELLED, "nobody waits for the answer"};
    if (running_.fetch_add(1) >= options_.most_calls) {
      running_.fetch_sub(1);
      return {grpc::UNAVAILABLE, "the node has too many calls at once"};
    }
    const grpc::Status status = serve();
    running_.fetch_sub(1);
    return status;
  }

  bool may_call(const grpc::ServerContext& context) const {
    if (options_.token.empty()) return true;
    const auto& sent = context.client_metadata();
    const auto found = sent.find("authorization");
    return found != sent.end() &&
           equal_in_constant_time({found->second.data(), found->second.size()},
                                  "Bearer " + options_.token);
  }

  router::Reply<router::Response> answer(const grpc::ServerContext& context,
                                         const rpc::Call& call,
                                         std::optional<std::chrono::milliseconds>& behind) {
    std::optional<router::ClientsFirst::Serving> serving;
    if (options_.pace != nullptr && router::is_of_client(call.request))
      serving.emplace(*options_.pace);
    const SteadyTime begun = options_.clock->steady_now();
    auto reply = serve(context, call, behind);
    if (options_.on_call) {
      options_.on_call({.request_id = request_id(context),
                        .index = call.index,
                        .kind = router::kind_of(call.request),
                        .outcome = router::outcome_of(reply),
                        .took = options_.clock->steady_now() - begun});
    }
    return reply;
  }

  router::Reply<router::Response> serve(const grpc::ServerContext& context, const rpc::Call& call,
                                        std::optional<std::chrono::milliseconds>& behind) {
    KIN_TRY(const auto host, indexes_.find(call.index, call.shard));
    router::Reach reach;
    if (options_.reach)
      reach = [&](const std::string& address) { return options_.reach(call.index, address); };
    const router::CallOptions how{.map_epoch = call.map_epoch,
                                  .divided = call.divided,
                                  .shard = call.shard,
                                  .most_behind = call.most_behind,
                                  .on_behind = [&](auto time) { behind = time; },
                                  .reach = std::move(reach),
                                  .pace = options_.pace,
                                  .deadline = steady_deadline(context, *options_.clock)};
    auto reply = host->serve(call.request, how);
    // Who asks for the state of a shard wants to know it also while its log does not go on.
    const bool is_held = !std::holds_alternative<router::HealthRequest>(call.request) &&
                         !std::holds_alternative<router::StatsRequest>(call.request);
    if (is_held) KIN_RETURN_IF_ERROR(indexes_.hold(host, how.deadline));
    return reply;
  }

  // Copies of partitions take a core for as long as they last. Searches do not wait for them.
  static bool is_long(const router::Request& request) {
    return std::holds_alternative<router::PullRequest>(request) ||
           std::holds_alternative<router::CopyRequest>(request) ||
           std::holds_alternative<router::DigestRequest>(request) ||
           std::holds_alternative<router::ReceiveRequest>(request) ||
           std::holds_alternative<router::EndMoveRequest>(request) || asks_for_sizes(request);
  }

  // Of an index with very many entities it takes seconds to count them.
  static bool asks_for_sizes(const router::Request& request) {
    const auto* stats = std::get_if<router::StatsRequest>(&request);
    return stats != nullptr && stats->sizes;
  }

  template <typename Work>
  static void by_turns(const router::Request& request, const Work& work) {
    if (!is_long(request)) return work();
    // A thread of its own, since it cannot be given its priority back.
    std::jthread([&] {
      yield_to_other_threads();
      work();
    }).join();
  }

  // Ids that cannot be one of a router are ignored: they would spoil logs.
  static std::string request_id(const grpc::ServerContext& context) {
    const auto found = context.client_metadata().find(kRequestIdField);
    if (found == context.client_metadata().end()) return "";
    const std::string id(found->second.data(), found->second.size());
    return is_request_id(id) ? id : "";
  }

  ServedIndexes& indexes_;
  const NodeServerOptions options_;
  std::atomic<std::size_t> running_{0};
};

std::shared_ptr<grpc::ServerCredentials> credentials(const NodeServerOptions& options) {
  if (!options.tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back(
      {.private_key = options.tls->key, .cert_chain = options.tls->certificate});
  return grpc::SslServerCredentials(tls);
}

std::string listening_at(const NodeServerOptions& options) {
  const bool v6 = options.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", options.address, options.port)
            : fmt::format("{}:{}", options.address, options.port);
}

}  // namespace

struct NodeServer::State {
  State(ServedIndexes& indexes, const NodeServerOptions& options) : service(indexes, options) {}
  Service service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  std::once_flag stopped;
};

NodeServer::NodeServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
NodeServer::~NodeServer() {
  stop();
}

Result<std::unique_ptr<NodeServer>> NodeServer::start(ServedIndexes& indexes,
                                                      const NodeServerOptions& options) {
  keep_libraries_quiet();
  // They take effect for servers that are built later, so once is enough for the process.
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
  auto state = std::make_unique<State>(indexes, options);
  grpc::ServerBuilder builder;
  // Otherwise a second node at the same port would get a part of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.most_bytes));
  builder.SetMaxSendMessageSize(-1);  // the caller decides
  builder.AddListeningPort(listening_at(options), credentials(options), &state->port);
  builder.RegisterService(&state->service);
  state->server = builder.BuildAndStart();
  if (!state->server || state->port == 0)
    return Error{
        Code::kUnavailable,
        fmt::format("cannot listen at {}: the port is taken{} or the address is not of this "
                    "machine",
                    listening_at(options),
                    options.tls ? ", the certificate or its key cannot be used," : "")};
  return std::unique_ptr<NodeServer>(new NodeServer(std::move(state)));
}

std::uint16_t NodeServer::port() const {
  return static_cast<std::uint16_t>(state_->port);
}

void NodeServer::stop() {
  std::call_once(state_->stopped, [&] {
    state_->server->Shutdown();
    state_->server->Wait();
  });
}

}  // namespace kin::rpc
