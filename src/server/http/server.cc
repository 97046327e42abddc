#include "server/http/server.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "server/http/connection.h"

namespace kin::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Files that the process needs besides connections.
constexpr std::size_t kOtherFiles = 128;
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

std::size_t affordable_connections(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const auto most = static_cast<std::size_t>(files.rlim_cur);
  return std::min(wanted, most > 2 * kOtherFiles ? most - kOtherFiles : most / 2);
}

Result<std::unique_ptr<asio::ssl::context>> make_tls(const TlsFiles& files) {
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  // Idle connections give their buffers back: 32 KiB each otherwise.
  ::SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code error;
  context->use_certificate_chain_file(files.certificate, error);
  if (error)
    return Error{Code::kInvalidArgument, fmt::format("{} cannot be used as a certificate: {}",
                                                     files.certificate, error.message())};
  context->use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} cannot be used as the key of {}: {}", files.key, files.certificate,
                             error.message())};
  return context;
}

}  // namespace

struct HttpServer::State {
  ServerCore core;
  std::unique_ptr<asio::ssl::context> tls{};
  asio::io_context io;
  // Keeps run() going while requests are answered on other threads, which Asio does not count.
  asio::executor_work_guard<asio::io_context::executor_type> work_to_come;
  // Used on its strand alone.
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::uint16_t port = 0;
  std::vector<std::thread> threads{};
  std::atomic<std::uint64_t> faults{0};

  State(ServerOptions options, Planner planner)
      : core{.options = std::move(options), .planner = std::move(planner)},
        io(core.options.threads),
        work_to_come(io.get_executor()),
        acceptor(asio::make_strand(io)),
        pause(acceptor.get_executor()) {}

  Status listen();
  void run();
  void work();
  void accept();
  void on_accept(const error_code& error, tcp::socket socket);
};

Status HttpServer::State::listen() {
  const ServerOptions& options = core.options;
  error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error)
    return Error{Code::kInvalidArgument,
                 fmt::format("cannot listen on \"{}\": it is not an IP address", options.address)};
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  // A port whose last connections still linger can be used again at once.
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use)
    return Error{Code::kFailedPrecondition,
                 fmt::format("port {} of {} is in use", options.port, options.address)};
  if (error)
    return Error{Code::kUnavailable, fmt::format("cannot listen on port {} of {}: {}", options.port,
                                                 options.address, error.message())};
  // The system chooses one if port 0 was asked for.
  port = acceptor.local_endpoint(error).port();
  return Done{};
}

void HttpServer::State::run() {
  const ServerOptions& options = core.options;
  core.quick = std::make_unique<TaskPool>(TaskPoolOptions{.threads = options.quick_threads});
  core.slow = std::make_unique<TaskPool>(
      TaskPoolOptions{.threads = options.slow_threads, .most_waiting = 64});
  asio::post(acceptor.get_executor(), [this] { accept(); });
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([this] { work(); });
}

// An exception from a handler (out of memory) ends its connection, not the server.
void HttpServer::State::work() {
  while (true) {
    try {
      io.run();
      return;
    } catch (const std::exception&) {
      ++faults;
    }
  }
}

void HttpServer::State::accept() {
  acceptor.async_accept(io, [this](const error_code& error, tcp::socket socket) {
    on_accept(error, std::move(socket));
  });
}

void HttpServer::State::on_accept(const error_code& error, tcp::socket socket) {
  if (!acceptor.is_open()) return;
  if (error) {
    // Most likely too many open files. Try again when some connections may have ended.
    pause.expires_after(kAcceptPause);
    pause.async_wait([this](const error_code& stopped) {
      if (!stopped && acceptor.is_open()) accept();
    });
    return;
  }
  error_code released;
  const bool v6 = core.options.address.find(':') != std::string::npos;
  // The connection needs a strand of its own, and an accepted socket keeps its executor.
  const int descriptor = socket.release(released);
  if (!released) start_connection(core, io, tls.get(), {.descriptor = descriptor, .v6 = v6});
  accept();
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(ServerOptions options, Planner planner) {
  options.limits.connections = affordable_connections(options.limits.connections);
  auto state = std::make_unique<State>(std::move(options), std::move(planner));
  if (state->core.options.tls) {
    KIN_TRY(state->tls, make_tls(*state->core.options.tls));
  }
  KIN_RETURN_IF_ERROR(state->listen());
  state->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::~HttpServer() {
  stop();
}

std::uint16_t HttpServer::port() const {
  return state_->port;
}

std::size_t HttpServer::connections() const {
  return state_->core.connections.count();
}

void HttpServer::stop() {
  State& state = *state_;
  if (state.threads.empty()) return;
  asio::post(state.acceptor.get_executor(), [&state] {
    error_code ignored;  // the acceptor is not used after this
    state.acceptor.close(ignored);
    state.pause.cancel();
  });
  state.core.connections.stop_all(false);
  if (!state.core.connections.wait_until_gone(state.core.options.limits.grace))
    state.core.connections.stop_all(true);
  // After the connections: their handlers run in these pools.
  state.core.slow->stop();
  state.core.quick->stop();
  state.io.stop();
  for (std::thread& thread : state.threads) thread.join();
  state.threads.clear();
}

}  // namespace kin::server
