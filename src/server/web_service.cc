#include "server/web_service.h"

#include <fmt/format.h>

#include <chrono>

#include "server/api/forwarded_api.h"
#include "server/api/index_api.h"
#include "server/api/stories_api.h"
#include "server/api/stories_feeds.h"
#include "server/http/event_stream.h"
#include "server/page/assets.h"
#include "server/page/site.h"
#include "server/service/safety.h"
#include "server/service/step_thread.h"
#include "stories/news_json.h"
#include "stories/poller.h"

namespace kin::server {
namespace {

// More stories than a page shows. Loading the page again is cheaper than a longer event.
constexpr std::size_t kMostInEvent = 1'000;

// Ids of events must grow from one process to the next (EventOptions::last_id).
std::uint64_t first_event_id(const Clock& clock) {
  return static_cast<std::uint64_t>(
      std::chrono::microseconds(clock.now().time_since_epoch()).count());
}

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct WebService::State {
  ServiceOptions options;
  std::unique_ptr<stories::Newsroom> newsroom{};
  std::shared_ptr<EventStream> events{};
  std::uint64_t listener = 0;
  std::unique_ptr<stories::Poller> poller{};
  std::unique_ptr<StepThread> polling{};
  std::unique_ptr<search::IndexFolder> library{};  // null if the indexes are elsewhere
  std::unique_ptr<ForwardedIndexes> forwarded{};   // null otherwise
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> server{};
  bool stopped = false;

  void listen_to_news();
  void start_poller();
  Status open_indexes();
  void fill_site(bool loopback);
  Status serve();
};

void WebService::State::listen_to_news() {
  events = std::make_shared<EventStream>(EventOptions{.last_id = first_event_id(*options.clock)});
  listener = newsroom->listen([stream = events](const stories::NewsEvent& event) {
    if (event.changed.size() + event.gone.size() > kMostInEvent)
      return stream->publish("reset", "{}");
    JsonWriter json;
    stories::write_event(json, event);
    stream->publish("news", json.take());
  });
}

void WebService::State::start_poller() {
  poller =
      std::make_unique<stories::Poller>(*newsroom, *options.clock,
                                        stories::PollerOptions{.automatic = options.refresh,
                                                               .request_gap = options.refresh_gap,
                                                               .on_problem = options.on_problem});
  polling = std::make_unique<StepThread>(*options.clock, [this] { return poller->step(); });
}

Status WebService::State::open_indexes() {
  if (options.remote_indexes) {
    KIN_TRY(forwarded, ForwardedIndexes::open(*options.remote_indexes));
    return Done{};
  }
  options.index.on_problem = options.on_problem;
  library = std::make_unique<search::IndexFolder>(options.indexes, options.index);
  return Done{};
}

void WebService::State::fill_site(bool loopback) {
  site = std::make_unique<Site>(GateOptions{.loopback = loopback,
                                            .tls = options.tls.has_value(),
                                            .token = options.token,
                                            .public_origin = options.public_url,
                                            .clock = options.clock});
  add_asset_routes(site->routes(), embedded_assets());
  site->show_when_lost(page_handler(embedded_assets()));
  add_stories_api(site->routes(), {.newsroom = *newsroom,
                                   .events = events,
                                   .refresh =
                                       [this](std::optional<stories::FeedId> feed) {
                                         poller->refresh(feed);
                                         polling->wake();
                                       },
                                   .feeds_changed = [this] { polling->wake(); }});
  if (forwarded) {
    add_forwarded_api(site->routes(), *forwarded);
    site->show_indexes_at(options.remote_indexes->origin);
  } else {
    add_index_api(site->routes(), *library);
  }
  add_feed_routes(site->routes(), *newsroom,
                  {.tls = options.tls.has_value(), .public_origin = options.public_url});
}

Status WebService::State::serve() {
  ServerOptions settings;
  settings.address = options.address;
  settings.port = options.port;
  settings.limits = options.limits;
  settings.clock = options.clock;
  settings.clock_tick = options.clock_tick;
  settings.headers = security_headers();
  if (options.tls) settings.tls = std::make_unique<TlsFiles>(*options.tls);
  KIN_TRY(server, HttpServer::start(std::move(settings),
                                    [this](const Request& head) { return site->plan(head); }));
  return Done{};
}

WebService::WebService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<WebService>> WebService::start(ServiceOptions options) {
  KIN_TRY(const bool loopback, check_safety({.address = options.address,
                                             .token = options.token,
                                             .has_tls = options.tls.has_value()}));
  if (!options.public_url.empty()) {
    KIN_TRY(options.public_url, parse_public_url(options.public_url));
  }
  std::unique_ptr<WebService> service(new WebService(std::make_unique<State>()));
  State& state = *service->state_;
  state.options = std::move(options);
  KIN_TRY(state.newsroom,
          stories::Newsroom::open(state.options.folder, *state.options.clock, state.options.news));
  state.listen_to_news();
  state.start_poller();
  KIN_RETURN_IF_ERROR(state.open_indexes());
  state.fill_site(loopback);
  KIN_RETURN_IF_ERROR(state.serve());
  return service;
}

WebService::~WebService() {
  stop();
}

std::uint16_t WebService::port() const {
  return state_->server->port();
}

std::string WebService::url() const {
  return url_of({.address = state_->options.address, .has_tls = state_->options.tls.has_value()},
                port());
}

void WebService::stop() {
  State& state = *state_;
  if (state.stopped || !state.newsroom) return;
  state.stopped = true;
  // First: a request that adds a feed waits for a fetch, and the server waits for the request.
  state.newsroom->cancel();
  if (state.forwarded) state.forwarded->stop();
  if (state.server) state.server->stop();
  if (state.polling) state.polling->stop();
  if (state.library) {
    const Status closed = state.library->close();
    if (!closed.ok() && state.options.on_problem) state.options.on_problem(closed.error());
  }
  state.newsroom->stop_listening(state.listener);
}

}  // namespace kin::server
