#include "server/http/connection.h"

#include <fmt/format.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <exception>
#include <optional>

#include "server/http/answer_head.h"
#include "server/http/event_stream.h"
#include "server/http/target.h"

namespace kin::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

using Plain = asio::ip::tcp::socket;
using Tls = beast::ssl_stream<asio::ip::tcp::socket>;

// After a refusal the rest of the request is read for this long. Closing at once would reset the
// connection, and the client could lose the answer.
constexpr auto kLinger = std::chrono::seconds(2);
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
// The buffer of an idle connection. Most requests of browsers fit.
constexpr std::size_t kFirstRead = 1024;
constexpr std::size_t kReadAhead = std::size_t{64} << 10;

int status_of_parse_error(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

std::string_view words_for(int status) {
  if (status == 431) return "the request's header is too large";
  if (status == 413) return "the request's body is too large";
  return "the request is not valid HTTP/1.1";
}

// True if the end of the body is unambiguous: no Transfer-Encoding, or "chunked" once in HTTP/1.1
// and without a length. A proxy that sees another end could take the rest for a request (RFC 9112,
// 6.1).
template <typename Head>
bool has_certain_end(const Head& head) {
  const auto codings = head.count(http::field::transfer_encoding);
  if (codings == 0) return true;
  return codings == 1 && head.version() == 11 && head.count(http::field::content_length) == 0 &&
         beast::iequals(head[http::field::transfer_encoding], "chunked");
}

bool is_parse_error(const error_code& error) {
  // Clients that leave, between requests or within one, are not answered.
  return error.category() == http::make_error_code(http::error::end_of_stream).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

// Everything except stop() and wake-ups of events runs on its strand.
template <typename Stream>
class Connection final : public AnyConnection,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <typename... Context>
  Connection(ServerCore& core, asio::ip::tcp::socket socket, Context&... tls)
      : core_(core),
        stream_(std::move(socket), tls...),
        timer_(stream_.get_executor()),
        watchdog_(stream_.get_executor()) {}
  ~Connection() override { core_.connections.leave(this); }

  void start() {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->begin(); });
  }

  void stop(bool at_once) override {
    asio::post(stream_.get_executor(), [self = this->shared_from_this(), at_once] {
      self->keep_alive_ = false;
      if (at_once || self->phase_ != Phase::kAnswering) self->abandon();
    });
  }

 private:
  enum class Phase { kWaiting, kAnswering };

  asio::ip::tcp::socket& tcp() { return beast::get_lowest_layer(stream_); }
  const ServerLimits& limits() const { return core_.options.limits; }
  Clock& clock() const { return *core_.options.clock; }

  // Wraps a handler: it keeps the connection alive and runs on its strand.
  template <typename Function>
  auto then(Function function) {
    return [self = this->shared_from_this(), function](auto... results) mutable {
      function(*self, results...);
    };
  }

  // --- time limits ---

  // Ends the connection unless the next limit is set within `time`. Replaces the limit before.
  void expire_after(std::chrono::milliseconds time) {
    deadline_ = clock().steady_now() + time;
    if (deadline_ < next_look_) look_at_clock();
  }
  void expire_never() { deadline_ = SteadyTime::max(); }

  // The timer keeps running while later limits replace each other, so that a connection with many
  // requests seldom sets it.
  void look_at_clock() {
    const SteadyTime now = clock().steady_now();
    if (now >= deadline_) return abandon();
    next_look_ = deadline_;
    if (deadline_ == SteadyTime::max()) return;
    next_look_ = std::min(deadline_, now + core_.options.clock_tick);
    watchdog_.expires_after(next_look_ - now);
    const std::weak_ptr<Connection> weak = this->shared_from_this();
    watchdog_.async_wait([weak](error_code error) {
      const auto self = weak.lock();
      if (self && !error) self->look_at_clock();
    });
  }

  void begin() {
    error_code ignored;  // without the option it is only slower
    tcp().set_option(asio::ip::tcp::no_delay(true), ignored);
    if constexpr (std::is_same_v<Stream, Tls>) {
      expire_after(limits().header_time);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              then([](Connection& self, error_code error) {
                                if (!error) self.await_request();
                              }));
    } else {
      await_request();
    }
  }

  void await_request() {
    phase_ = Phase::kWaiting;
    request_ = {};
    plan_ = {};
    parser_.reset();
    if (core_.connections.stopping()) return abandon();
    if (buffer_.size() > 0) return read_header();
    buffer_.shrink_to_fit();  // thousands of idle connections wait here
    expire_after(limits().idle);
    stream_.async_read_some(buffer_.prepare(kFirstRead),
                            then([](Connection& self, error_code error, std::size_t length) {
                              if (error) return self.abandon();
                              self.buffer_.commit(length);
                              self.read_header();
                            }));
  }

  void read_header() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(limits().header));
    parser_->body_limit(limits().body);
    expire_after(limits().header_time);
    http::async_read_header(stream_, buffer_, *parser_,
                            then([](Connection& self, error_code error, std::size_t) {
                              if (error) return self.fail_to_read(error);
                              self.on_header();
                            }));
  }

  void fail_to_read(const error_code& error) {
    if (!is_parse_error(error)) return abandon();
    const int status = status_of_parse_error(error);
    refuse(error_response(status, words_for(status)));
  }

  void on_header() {
    phase_ = Phase::kAnswering;
    const auto& head = parser_->get();
    keep_alive_ = head.keep_alive();
    version_ = head.version();
    request_.method = std::string(head.method_string());
    request_.target = std::string(head.target());
    for (const auto& field : head)
      request_.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    if (!has_certain_end(head)) {
      keep_alive_ = false;
      unread_ = true;
      return refuse(
          error_response(400, "Transfer-Encoding must be \"chunked\", once, in HTTP/1.1"));
    }
    auto target = parse_target(request_.target);
    if (!target) return refuse(error_response(target.error()));
    request_.path = std::move(target->path);
    request_.query = std::move(target->query);
    plan_ = core_.planner(request_);
    if (plan_.refusal) return refuse(std::move(*plan_.refusal));
    if (parser_->is_done()) return answer();
    // Checked before any of the body is read.
    if (parser_->content_length().value_or(0) > plan_.most_body)
      return refuse(error_response(413, words_for(413)));
    parser_->body_limit(std::min<std::uint64_t>(plan_.most_body, limits().body));
    if (beast::iequals(head[http::field::expect], "100-continue")) return invite_body();
    read_body();
  }

  void invite_body() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      then([](Connection& self, error_code error, std::size_t) {
                        if (error) return self.abandon();
                        self.read_body();
                      }));
  }

  std::chrono::milliseconds time_for(std::uint64_t bytes) const {
    return limits().transfer_time + std::chrono::seconds(bytes / limits().slowest_rate);
  }

  void read_body() {
    expire_after(time_for(parser_->content_length().value_or(plan_.most_body)));
    http::async_read(stream_, buffer_, *parser_,
                     then([](Connection& self, error_code error, std::size_t) {
                       if (error) return self.fail_to_read(error);
                       self.request_.body = std::move(self.parser_->get().body());
                       self.answer();
                     }));
  }

  void answer() {
    expire_never();
    request_.tenant = plan_.tenant;
    // Inline handlers do not block, so a hand-over would only cost time.
    if (plan_.lane == Lane::kInline) return respond(run_answer());
    TaskPool& pool = plan_.lane == Lane::kSlow ? *core_.slow : *core_.quick;
    const auto run = [self = this->shared_from_this()] {
      // The strand does not touch request_ and plan_ until this has posted back.
      auto response = std::make_shared<Response>(self->run_answer());
      asio::post(self->stream_.get_executor(),
                 [self, response] { self->respond(std::move(*response)); });
    };
    const bool taken = pool.submit(run, {.name = plan_.tenant, .weight = plan_.weight});
    if (!taken) respond(error_response(503, "the server is busy: try again later"));
  }

  Response run_answer() {
    try {
      return plan_.handler(request_);
    } catch (const std::exception& exception) {
      return error_response(500, exception.what());
    }
  }

  // Answers before the whole request was read. What follows on the connection cannot be parsed, so
  // it is closed afterwards.
  void refuse(Response response) {
    phase_ = Phase::kAnswering;
    if (!parser_->is_done()) {
      keep_alive_ = false;
      unread_ = true;
    }
    respond(std::move(response));
  }

  void respond(Response response) {
    expire_never();
    if (response.delay.count() == 0) return send(std::move(response));
    auto held = std::make_shared<Response>(std::move(response));
    timer_.expires_after(held->delay);
    timer_.async_wait(then([held](Connection& self, error_code) { self.send(std::move(*held)); }));
  }

  void send(Response response) {
    // Tells the client not to send another request on this connection.
    if (core_.connections.stopping()) keep_alive_ = false;
    // Events have no length: they end with the connection.
    if (response.events) keep_alive_ = false;
    const bool headless = request_.method == "HEAD";
    head_ = answer_head(response, {.keep_alive = keep_alive_,
                                   .old_version = version_ < 11,
                                   .common = &core_.options.headers});
    body_ = headless ? std::string() : std::move(response.body);
    if (response.events && !headless) join(*response.events);
    expire_after(time_for(body_.size()));
    const std::array buffers{asio::buffer(head_), asio::buffer(body_)};
    asio::async_write(stream_, buffers, then([](Connection& self, error_code error, std::size_t) {
                        if (error) return self.abandon();
                        if (self.client_) return self.begin_events();
                        self.on_sent();
                      }));
  }

  void on_sent() {
    head_ = {};
    body_ = {};
    if (keep_alive_) return await_request();
    if constexpr (std::is_same_v<Stream, Tls>) {
      expire_after(kLinger);
      stream_.async_shutdown(then([](Connection& self, error_code) { self.linger(); }));
    } else {
      linger();
    }
  }

  void linger() {
    error_code ignored;  // the connection is closed either way
    tcp().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    if (!unread_) return abandon();
    expire_after(kLinger);
    drain(0);
  }

  void drain(std::size_t read_so_far) {
    // A client that keeps sending must not occupy the server.
    if (read_so_far > kLingerBytes) return abandon();
    body_.resize(kReadAhead);
    // Below TLS, which was shut down before.
    tcp().async_read_some(
        asio::buffer(body_),
        then([read_so_far](Connection& self, error_code error, std::size_t length) {
          if (error) return self.abandon();
          self.drain(read_so_far + length);
        }));
  }

  // --- event streams ---

  // Before the head is sent: a client that has the head gets every event from then on. Events wait
  // until the head is out.
  void join(EventStream& events) {
    const std::weak_ptr<Connection> weak = this->shared_from_this();
    client_ = events.join(request_.header("Last-Event-ID"), [weak] {
      const auto self = weak.lock();
      if (!self) return;
      asio::post(self->stream_.get_executor(), [self] { self->send_events(); });
    });
    sending_ = true;
  }

  void begin_events() {
    phase_ = Phase::kWaiting;
    sending_ = false;
    if (core_.connections.stopping()) return abandon();
    expire_never();
    await_hang_up();
    arm_ping();
    send_events();
  }

  // Clients of an event stream send nothing more. Reading notices when they leave.
  void await_hang_up() {
    stream_.async_read_some(buffer_.prepare(kFirstRead),
                            then([](Connection& self, error_code error, std::size_t) {
                              if (error) return self.abandon();
                              self.await_hang_up();
                            }));
  }

  void arm_ping() {
    timer_.expires_after(limits().ping);
    timer_.async_wait(then([](Connection& self, error_code error) {
      if (error || !self.client_) return;
      // Proxies close connections that are quiet, and a write finds clients that vanished.
      if (!self.sending_) self.write_events(": ping\n\n");
      self.arm_ping();
    }));
  }

  void send_events() {
    if (!client_) return;
    if (client_->dropped()) return abandon();
    if (sending_) return;
    std::string bytes = client_->take();
    if (!bytes.empty()) write_events(std::move(bytes));
  }

  void write_events(std::string bytes) {
    sending_ = true;
    body_ = std::move(bytes);
    expire_after(limits().transfer_time);
    asio::async_write(stream_, asio::buffer(body_),
                      then([](Connection& self, error_code error, std::size_t) {
                        self.sending_ = false;
                        self.expire_never();
                        if (error) return self.abandon();
                        self.send_events();
                      }));
  }

  void abandon() {
    client_.reset();
    timer_.cancel();
    watchdog_.cancel();
    error_code ignored;  // the descriptor is released either way
    tcp().close(ignored);
  }

  ServerCore& core_;
  Stream stream_;
  asio::steady_timer timer_;  // for delayed answers and pings
  asio::steady_timer watchdog_;
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime next_look_ = SteadyTime::max();  // when watchdog_ fires; max() if it is not set
  beast::flat_buffer buffer_{kReadAhead};
  std::optional<http::request_parser<http::string_body>> parser_;
  Request request_;
  Plan plan_;
  std::string head_;
  std::string body_;
  std::shared_ptr<EventClient> client_;
  Phase phase_ = Phase::kWaiting;
  unsigned version_ = 11;
  bool keep_alive_ = false;
  bool unread_ = false;
  bool sending_ = false;
};

template <typename Made>
void launch(ServerCore& core, asio::ip::tcp::socket& socket, const Made& make) {
  const std::size_t most = core.options.limits.connections;
  if (core.connections.count() >= most) {
    const Response full =
        error_response(503, "the server has too many connections: try again later");
    const std::string busy = answer_head(full, {.common = &core.options.headers}) + full.body;
    error_code ignored;  // the socket is closed either way
    socket.non_blocking(true, ignored);
    // A TLS client could read it only after a handshake, for which there is no room.
    if (!core.options.tls) socket.write_some(asio::buffer(busy), ignored);
    return;
  }
  const auto connection = make();
  // Another thread may have taken the last place, or the server may be stopping.
  if (core.connections.enter(connection, most)) connection->start();
}

}  // namespace

void start_connection(ServerCore& core, asio::io_context& io, asio::ssl::context* tls,
                      AcceptedSocket accepted) {
  asio::ip::tcp::socket socket(asio::make_strand(io));
  error_code error;
  socket.assign(accepted.v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), accepted.descriptor,
                error);
  if (error) return;
  if (tls != nullptr) {
    launch(core, socket,
           [&] { return std::make_shared<Connection<Tls>>(core, std::move(socket), *tls); });
  } else {
    launch(core, socket,
           [&] { return std::make_shared<Connection<Plain>>(core, std::move(socket)); });
  }
}

}  // namespace kin::server
