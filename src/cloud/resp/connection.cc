#include "cloud/resp/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kin::cloud {
namespace {

using std::chrono::milliseconds;

Error unreachable(const std::string& what) {
  return {Code::kUnavailable, what};
}

// Waits until the socket may be used. kUnavailable after the deadline.
Status wait_for(int socket, short events, SteadyTime deadline) {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return unreachable("no answer in time");
    pollfd waiting{.fd = socket, .events = events, .revents = 0};
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (ready > 0) return Done{};
    if (ready < 0 && errno != EINTR) return unreachable(std::strerror(errno));
  }
}

Result<int> connect_to(const addrinfo& address, SteadyTime deadline) {
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return unreachable(std::strerror(errno));
  Status status = Done{};
  if (::connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    status = errno == EINPROGRESS ? wait_for(socket, POLLOUT, deadline)
                                  : Status(unreachable(std::strerror(errno)));
    int failure = 0;
    socklen_t size = sizeof failure;
    if (status.ok() && ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 &&
        failure != 0)
      status = unreachable(std::strerror(failure));
  }
  if (!status.ok()) {
    ::close(socket);
    return status.error();
  }
  // A pipeline is written in few pieces, and each should be sent at once.
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

Result<int> connect_to(const RespOptions& options, SteadyTime deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &hints, &found);
  if (failure != 0) return unreachable(::gai_strerror(failure));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  Result<int> socket = unreachable("no address found");
  for (const addrinfo* at = found; at != nullptr && !socket.ok(); at = at->ai_next)
    socket = connect_to(*at, deadline);
  return socket;
}

std::string tls_failure() {
  std::array<char, 256> text{};
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  if (code == 0) return "the connection was closed";
  ::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace

struct Connection::State {
  ~State() {
    if (tls != nullptr) ::SSL_free(tls);
    if (context != nullptr) ::SSL_CTX_free(context);
    if (socket >= 0) ::close(socket);
  }

  Status start_tls(const RespOptions& options, SteadyTime deadline);
  // The number of bytes written; 0 if the socket must be waited for, with `events` set.
  Result<std::size_t> write(std::string_view bytes, short& events);
  Result<std::size_t> read(std::span<char> into, short& events);
  // The meaning of a TLS call's return value.
  Result<std::size_t> tls_outcome(int code, short& events) const;

  int socket = -1;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;
};

Result<std::size_t> Connection::State::tls_outcome(int code, short& events) const {
  switch (::SSL_get_error(tls, code)) {
    case SSL_ERROR_WANT_READ: events = POLLIN; return std::size_t{0};
    case SSL_ERROR_WANT_WRITE: events = POLLOUT; return std::size_t{0};
    default: return unreachable(tls_failure());
  }
}

Result<std::size_t> Connection::State::write(std::string_view bytes, short& events) {
  if (tls != nullptr) {
    std::size_t count = 0;
    const int code = ::SSL_write_ex(tls, bytes.data(), bytes.size(), &count);
    return code == 1 ? Result<std::size_t>(count) : tls_outcome(code, events);
  }
  const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno != EAGAIN && errno != EINTR) return unreachable(std::strerror(errno));
  events = POLLOUT;
  return std::size_t{0};
}

Result<std::size_t> Connection::State::read(std::span<char> into, short& events) {
  if (tls != nullptr) {
    std::size_t count = 0;
    const int code = ::SSL_read_ex(tls, into.data(), into.size(), &count);
    return code == 1 ? Result<std::size_t>(count) : tls_outcome(code, events);
  }
  const ssize_t count = ::recv(socket, into.data(), into.size(), 0);
  if (count > 0) return static_cast<std::size_t>(count);
  if (count == 0) return unreachable("the connection was closed");
  if (errno != EAGAIN && errno != EINTR) return unreachable(std::strerror(errno));
  events = POLLIN;
  return std::size_t{0};
}

Status Connection::State::start_tls(const RespOptions& options, SteadyTime deadline) {
  context = ::SSL_CTX_new(::TLS_client_method());
  if (context == nullptr) return Error{Code::kInternal, "OpenSSL has no memory"};
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const int trusted = options.ca_file.empty() ? ::SSL_CTX_set_default_verify_paths(context)
                                              : ::SSL_CTX_load_verify_locations(
                                                    context, options.ca_file.c_str(), nullptr);
  if (trusted != 1)
    return Error{Code::kFailedPrecondition, fmt::format("{}: cannot be read as certificates ({})",
                                                        options.ca_file, tls_failure())};
  tls = ::SSL_new(context);
  ::SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_set_fd(tls, socket);
  // The certificate must be for the host: for its address if the host is given as one.
  X509_VERIFY_PARAM* const wanted = ::SSL_get0_param(tls);
  if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, options.host.c_str()) != 1) {
    ::ERR_clear_error();
    ::SSL_set1_host(tls, options.host.c_str());
    ::SSL_set_tlsext_host_name(tls, options.host.c_str());
  }
  while (true) {
    const int code = ::SSL_connect(tls);
    if (code == 1) return Done{};
    const long verified = ::SSL_get_verify_result(tls);
    if (verified != X509_V_OK) {
      ::ERR_clear_error();
      return Error{Code::kFailedPrecondition,
                   fmt::format("the server's certificate is not trusted ({})",
                               ::X509_verify_cert_error_string(verified))};
    }
    short events = 0;
    const auto outcome = tls_outcome(code, events);
    if (!outcome) return outcome.error();
    KIN_RETURN_IF_ERROR(wait_for(socket, events, deadline));
  }
}

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}

Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const RespOptions& options,
                                                     SteadyTime deadline) {
  auto state = std::make_unique<State>();
  KIN_TRY(state->socket, connect_to(options, deadline));
  if (options.tls) KIN_RETURN_IF_ERROR(state->start_tls(options, deadline));
  return std::unique_ptr<Connection>(new Connection(std::move(state)));
}

Status Connection::exchange(std::string_view out, const Take& done, SteadyTime deadline) {
  std::array<char, 64 << 10> buffer;
  while (true) {
    short write_events = 0;
    short read_events = 0;
    std::size_t moved = 0;
    if (!out.empty()) {
      KIN_TRY(const std::size_t sent, state_->write(out, write_events));
      out.remove_prefix(sent);
      moved += sent;
    }
    KIN_TRY(const std::size_t received, state_->read(buffer, read_events));
    moved += received;
    if (received > 0) {
      KIN_TRY(const bool enough, done({buffer.data(), received}));
      if (enough) return Done{};
    }
    if (moved == 0)
      KIN_RETURN_IF_ERROR(
          wait_for(state_->socket, static_cast<short>(write_events | read_events), deadline));
  }
}

}  // namespace kin::cloud
