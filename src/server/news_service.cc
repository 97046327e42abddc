#include "server/news_service.h"

#include <fmt/format.h>

#include <chrono>

#include "net/address.h"
#include "server/api/index_api.h"
#include "server/api/stories_api.h"
#include "server/api/stories_feeds.h"
#include "server/api/story_json.h"
#include "server/http/event_stream.h"
#include "server/page/assets.h"
#include "server/page/site.h"
#include "server/service/poller.h"

namespace kin::server {
namespace {

Result<bool> is_loopback(const std::string& text) {
  const auto address = net::IpAddress::parse(text);
  if (!address)
    return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no IP address to listen on", text)};
  return net::classify(*address) == net::AddressKind::kLoopback;
}

Status check_safety(const ServiceOptions& options, bool loopback) {
  if (!options.token.empty()) KIN_RETURN_IF_ERROR(check_token(options.token));
  if (loopback || (!options.token.empty() && options.tls)) return Done{};
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} can be reached by other machines, so a token and TLS are both needed: "
                  "--token-file FILE --tls-cert FILE --tls-key FILE (or listen on 127.0.0.1)",
                  options.address)};
}

std::uint64_t microseconds_now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

// In the order in which they are needed: what is below uses what is above.
struct NewsService::State {
  ServiceOptions options;
  std::unique_ptr<stories::Newsroom> newsroom{};
  std::shared_ptr<EventStream> events{};
  std::uint64_t listener = 0;
  std::unique_ptr<Poller> poller{};
  std::unique_ptr<search::IndexFolder> library{};
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> server{};
  bool stopped = false;

  void listen_to_news();
  void start_poller();
  void fill_site(bool loopback);
  Status serve();
};

void NewsService::State::listen_to_news() {
  events = std::make_shared<EventStream>(EventOptions{.last_id = microseconds_now()});
  listener = newsroom->listen([stream = events](const stories::NewsEvent& event) {
    const std::string data = news_json(event);
    if (data.empty()) {
      stream->publish("reset", "{}");
    } else {
      stream->publish("news", data);
    }
  });
}

void NewsService::State::start_poller() {
  poller = std::make_unique<Poller>(*newsroom, PollerOptions{.automatic = options.refresh,
                                                             .clock = options.news.clock,
                                                             .on_problem = options.on_problem});
}

void NewsService::State::fill_site(bool loopback) {
  site = std::make_unique<Site>(
      GateOptions{.loopback = loopback, .tls = options.tls.has_value(), .token = options.token});
  add_asset_routes(site->router(), embedded_assets());
  add_stories_api(
      site->router(),
      {.newsroom = *newsroom,
       .events = events,
       .refresh = [this](std::optional<stories::FeedId> feed) { poller->refresh(feed); },
       .feeds_changed = [this] { poller->wake(); }});
  add_index_api(site->router(), *library);
  add_feed_routes(site->router(), *newsroom, {.tls = options.tls.has_value()});
}

Status NewsService::State::serve() {
  ServerOptions settings;
  settings.address = options.address;
  settings.port = options.port;
  settings.limits = options.limits;
  settings.headers = security_headers();
  if (options.tls) settings.tls = std::make_unique<TlsFiles>(*options.tls);
  KIN_TRY(server, HttpServer::start(std::move(settings),
                                    [this](const Request& head) { return site->plan(head); }));
  return Done{};
}

NewsService::NewsService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<NewsService>> NewsService::start(ServiceOptions options) {
  KIN_TRY(const bool loopback, is_loopback(options.address));
  KIN_RETURN_IF_ERROR(check_safety(options, loopback));
  std::unique_ptr<NewsService> service(new NewsService(std::make_unique<State>()));
  State& state = *service->state_;
  state.options = std::move(options);
  KIN_TRY(state.newsroom, stories::Newsroom::open(state.options.folder, state.options.news));
  state.listen_to_news();
  state.start_poller();
  state.options.index.on_problem = state.options.on_problem;
  state.library = std::make_unique<search::IndexFolder>(state.options.indexes, state.options.index);
  state.fill_site(loopback);
  KIN_RETURN_IF_ERROR(state.serve());
  return service;
}

NewsService::~NewsService() {
  stop();
}

std::uint16_t NewsService::port() const {
  return state_->server->port();
}

std::string NewsService::url() const {
  const std::string& address = state_->options.address;
  return fmt::format("{}://{}:{}/", state_->options.tls ? "https" : "http",
                     address.find(':') == std::string::npos ? address : "[" + address + "]",
                     port());
}

stories::Newsroom& NewsService::newsroom() {
  return *state_->newsroom;
}

void NewsService::stop() {
  State& state = *state_;
  if (state.stopped || !state.newsroom) return;
  state.stopped = true;
  state.newsroom->cancel();
  if (state.server) state.server->stop();
  if (state.poller) state.poller->stop();
  if (state.library) {
    const Status closed = state.library->close();
    if (!closed.ok() && state.options.on_problem) state.options.on_problem(closed.error());
  }
  state.newsroom->stop_listening(state.listener);
}

}  // namespace kin::server
