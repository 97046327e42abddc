#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <random>
#include <thread>

#include "app/command.h"
#include "app/data_folder.h"
#include "app/listen_flags.h"
#include "app/options.h"
#include "app/print.h"
#include "app/remote_api.h"
#include "app/search/index_flags.h"
#include "app/stories/newsroom_flags.h"
#include "server/web_service.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred serve
  kindred serve --open
  kindred serve --listen 127.0.0.1:9000 --data ~/news
  kindred serve --listen '[::1]:8722' --no-refresh
  kindred serve --at 10.0.0.7:8723
  kindred serve --listen 0.0.0.0:8722 --token-file token --tls-cert cert.pem --tls-key key.pem

Serves the page, its JSON API (docs/api.md), and the stories as a feed for other readers: /stories.xml and
/stories.json. Feeds that change often are polled often. Ctrl-C stops the server; acknowledged changes are
durable.

With --at the page and the API show the indexes of a router (`kindred router`) or of another server instead of those
in the data folder.

An address that other machines can reach needs a token (openssl rand -hex 24 > token) and TLS. The page asks
for the token once in each browser; other feed readers use the address of /stories.xml that its help shows.

Behind a reverse proxy that speaks TLS, listen on 127.0.0.1 and name the address that browsers use:
  kindred serve --public-url https://news.example.org --token-file token)";

struct ServeArguments {
  ListenFlags listen{.listen = "127.0.0.1:8722"};
  NewsroomFlags newsroom;
  AtFlags at;
  std::string public_url;
  std::uint32_t refresh_gap = 30;
  bool no_refresh = false;
  bool open = false;
};

Result<server::ServiceOptions> understand(const ServeArguments& arguments) {
  server::ServiceOptions options;
  KIN_TRY(const Listening listening, app::understand(arguments.listen));
  options.address = listening.address;
  options.port = listening.port;
  options.token = listening.token;
  options.tls = listening.tls;
  KIN_TRY(const std::filesystem::path data, data_folder(arguments.newsroom.data));
  options.folder = data;
  options.indexes = indexes_folder(data);
  KIN_TRY(options.index, index_open_options(arguments.newsroom.data));
  if (!arguments.at.at.empty()) {
    KIN_TRY(RemoteAddress there, app::understand(arguments.at));
    options.remote_indexes = server::RemoteIndexes{.origin = std::move(there.origin),
                                                   .token = std::move(there.token),
                                                   .ca_file = std::move(there.certificates)};
  }
  options.refresh = !arguments.no_refresh;
  options.refresh_gap = std::chrono::seconds(arguments.refresh_gap);
  options.public_url = arguments.public_url;
  options.news.http.addresses.allow_all = arguments.newsroom.allow_private;
  options.news.seed = std::random_device()();
  options.index.private_embedders = arguments.newsroom.allow_private;
  options.on_problem = [](const Error& error) { say("kindred: " + error.message + "\n"); };
  return options;
}

void open_browser(const std::string& url) {
  // posix_spawnp() does not modify its arguments, although its type allows it.
  std::array<char*, 3> words{const_cast<char*>("xdg-open"), const_cast<char*>(url.c_str()),
                             nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, "xdg-open", nullptr, nullptr, words.data(), environ) != 0)
    return say("kindred: xdg-open is not installed; open the address in a browser\n");
  // Reaps the child, which may live as long as the browser.
  std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
}

Error in_use(const Error& error, const server::ServiceOptions& options) {
  // Other failed preconditions, such as a folder in use, name the remedy themselves.
  if (error.code != Code::kFailedPrecondition || !error.message.starts_with("port ")) return error;
  return {error.code,
          fmt::format("{} (is kindred running already? Choose another port: --listen {}:{})",
                      error.message, options.address, options.port + 1)};
}

std::string welcome(const std::string& url, const server::ServiceOptions& options) {
  std::string words = fmt::format("Kindred is at {}\n", url);
  if (!options.public_url.empty())
    words += fmt::format("Browsers reach it at {}\n", options.public_url);
  if (!options.token.empty()) words += "The page asks for the token once in each browser.\n";
  if (!options.public_url.empty() && options.token.empty())
    words +=
        "Everybody who gets through the proxy can read and change everything (use --token-file "
        "FILE to require a token).\n";
  if (options.remote_indexes)
    words += fmt::format("The indexes are those of {}\n", options.remote_indexes->origin);
  return words + fmt::format("Data folder: {}. Press Ctrl-C to stop.\n", options.folder.string());
}

Result<int> run_serve(const ServeArguments& arguments, Verb verb) {
  const auto understood = understand(arguments);
  if (!understood) return wrong_usage(understood.error(), verb);
  raise_file_limit();
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  auto service = server::WebService::start(*understood);
  if (!service && service.error().code == Code::kInvalidArgument)
    return wrong_usage(service.error(), verb);
  if (!service) return in_use(service.error(), *understood);
  const std::string url = (*service)->url();
  KIN_RETURN_IF_ERROR(print(welcome(url, *understood)));
  KIN_RETURN_IF_ERROR(write_port(arguments.listen, (*service)->port()));
  if (arguments.open) open_browser(url);
  wait_for_signal(stop);
  (*service)->stop();
  return kDone;
}

}  // namespace

Command add_serve_command(Verb app) {
  const Verb verb = app.add_subcommand("serve", "Serve the page, the JSON API and the stories feed");
  const auto arguments = std::make_shared<ServeArguments>();
  verb.footer(kExamples);
  add_listen_flags(verb, arguments->listen);
  add_data_flag(verb, arguments->newsroom);
  add_address_flag(verb, arguments->newsroom);
  add_at_flags(verb, arguments->at);
  verb.add_option("--public-url", arguments->public_url,
                  "Address of the page for browsers, if a reverse proxy is in front")
      .type_name("URL");
  verb.add_option("--refresh-gap", arguments->refresh_gap,
                  "Seconds between polls of one feed on request")
      .type_name("SECONDS")
      .capture_default_str();
  verb.add_flag("--no-refresh", arguments->no_refresh, "Poll feeds only on request");
  verb.add_flag("--open", arguments->open, "Open the page in the browser");
  return {verb, [=]() -> Result<int> { return run_serve(*arguments, verb); }};
}

}  // namespace kin::app
