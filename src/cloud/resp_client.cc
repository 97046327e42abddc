#include "cloud/resp_client.h"

#include <fmt/format.h>

#include <mutex>

#include "cloud/resp/connection.h"
#include "cloud/resp/parser.h"

namespace kin::cloud {
namespace {

// The server is reachable, but temporarily unable to serve.
bool may_pass(const RespValue& reply) {
  if (reply.kind != RespValue::Kind::kError) return false;
  for (const char* begin :
       {"LOADING", "READONLY", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY "}) {
    if (reply.text.starts_with(begin)) return true;
  }
  return false;
}

}  // namespace

struct RespClient::State {
  explicit State(RespOptions given) : options(std::move(given)) {}

  Result<std::vector<RespValue>> call(std::span<const RespCommand> commands);
  Result<std::vector<RespValue>> round_trip(std::span<const RespCommand> commands,
                                            SteadyTime deadline);
  Status connect();

  const RespOptions options;
  std::mutex mutex;
  std::unique_ptr<Connection> connection;
  RespParser parser;
};

Status RespClient::State::connect() {
  const SteadyTime deadline = std::chrono::steady_clock::now() + options.connect;
  parser = {};
  KIN_TRY(connection, Connection::open(options, deadline));
  if (options.password.empty()) return Done{};
  RespCommand login{"AUTH"};
  if (!options.user.empty()) login.push_back(options.user);
  login.push_back(options.password);
  KIN_TRY(const auto replies, round_trip(std::span(&login, 1), deadline));
  if (replies[0].kind == RespValue::Kind::kError)
    return Error{Code::kFailedPrecondition, replies[0].text};
  return Done{};
}

Result<std::vector<RespValue>> RespClient::State::round_trip(std::span<const RespCommand> commands,
                                                             SteadyTime deadline) {
  std::string out;
  for (const RespCommand& command : commands) append_command(out, command);
  std::vector<RespValue> replies;
  replies.reserve(commands.size());
  const auto take = [&](std::string_view bytes) -> Result<bool> {
    parser.add(bytes);
    while (replies.size() < commands.size()) {
      KIN_TRY(auto reply, parser.next());
      if (!reply) return false;
      replies.push_back(std::move(*reply));
    }
    return true;
  };
  KIN_RETURN_IF_ERROR(connection->exchange(out, take, deadline));
  return replies;
}

Result<std::vector<RespValue>> RespClient::State::call(std::span<const RespCommand> commands) {
  if (!connection) KIN_RETURN_IF_ERROR(connect());
  KIN_TRY(auto replies, round_trip(commands, std::chrono::steady_clock::now() + options.answer));
  for (const RespValue& reply : replies) {
    if (may_pass(reply)) return Error{Code::kUnavailable, reply.text};
  }
  return replies;
}

RespClient::RespClient(RespOptions options) : state_(std::make_unique<State>(std::move(options))) {}

RespClient::~RespClient() = default;

Result<std::vector<RespValue>> RespClient::call(std::span<const RespCommand> commands) {
  if (commands.empty()) return std::vector<RespValue>();
  const std::lock_guard lock(state_->mutex);
  auto replies = state_->call(commands);
  if (replies) return replies;
  // Late replies must not be taken for those of the next call.
  state_->connection.reset();
  return with_context(fmt::format("{}:{}", state_->options.host, state_->options.port),
                      replies.error());
}

Result<RespValue> RespClient::call(RespCommand command) {
  KIN_TRY(auto replies, call(std::span<const RespCommand>(&command, 1)));
  if (replies[0].kind == RespValue::Kind::kError)
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: {}", command.empty() ? "" : command[0], replies[0].text)};
  return std::move(replies[0]);
}

}  // namespace kin::cloud
