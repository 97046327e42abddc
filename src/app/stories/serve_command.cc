#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "app/command.h"
#include "app/data_folder.h"
#include "app/print.h"
#include "app/search/index_flags.h"
#include "app/stories/newsroom_flags.h"
#include "base/file.h"
#include "server/web_service.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred serve
  kindred serve --open
  kindred serve --listen 127.0.0.1:9000 --data ~/news
  kindred serve --listen '[::1]:8722' --no-refresh
  kindred serve --listen 0.0.0.0:8722 --token-file token --tls-cert cert.pem --tls-key key.pem

Serves the page, its JSON API (docs/api.md), and the stories as a feed for other readers: /stories.xml and
/stories.json. Feeds that change often are polled often. Ctrl-C stops the server; acknowledged changes are
durable.

An address that other machines can reach needs a token (openssl rand -hex 24 > token) and TLS. The page asks
for the token once in each browser; other feed readers use the address of /stories.xml that its help shows.

Behind a reverse proxy that speaks TLS, listen on 127.0.0.1 and name the address that browsers use:
  kindred serve --public-url https://news.example.org --token-file token)";

struct ServeArguments {
  std::string listen = "127.0.0.1:8722";
  NewsroomFlags newsroom;
  std::string token_file;
  std::string certificate;
  std::string key;
  std::string port_file;
  std::string public_url;
  std::uint32_t refresh_gap = 30;
  bool no_refresh = false;
  bool open = false;
};

Error bad_listen(const std::string& text) {
  return {Code::kInvalidArgument,
          fmt::format("--listen: \"{}\" is not ADDRESS:PORT, such as 127.0.0.1:8722 or [::1]:8722",
                      text)};
}

Status understand_listen(const std::string& text, server::ServiceOptions& options) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad_listen(text);
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  // ::1:8722 is an address, too.
  else if (address.find(':') != std::string::npos)
    return bad_listen(text);
  if (address == "localhost") address = "127.0.0.1";
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data() + colon + 1, end, options.port);
  if (problem != std::errc() || stopped != end || address.empty()) return bad_listen(text);
  options.address = address;
  return Done{};
}

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (!file || !std::getline(file, token))
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} has no token on its first line (make one: openssl rand -hex 24 > {})", path,
                    path)};
  // Editors leave such characters at the end of a file.
  while (token.ends_with('\r') || token.ends_with(' ')) token.pop_back();
  return token;
}

Status understand_safety(const ServeArguments& arguments, server::ServiceOptions& options) {
  if (arguments.certificate.empty() != arguments.key.empty())
    return Error{Code::kInvalidArgument, "--tls-cert and --tls-key go together"};
  if (!arguments.certificate.empty())
    options.tls = server::TlsFiles{.certificate = arguments.certificate, .key = arguments.key};
  if (!arguments.token_file.empty()) {
    KIN_TRY(options.token, read_token(arguments.token_file));
  }
  return Done{};
}

Result<server::ServiceOptions> understand(const ServeArguments& arguments) {
  server::ServiceOptions options;
  KIN_RETURN_IF_ERROR(understand_listen(arguments.listen, options));
  KIN_RETURN_IF_ERROR(understand_safety(arguments, options));
  KIN_TRY(const std::filesystem::path data, data_folder(arguments.newsroom.data));
  options.folder = data;
  options.indexes = indexes_folder(data);
  KIN_TRY(options.index, index_open_options(arguments.newsroom.data));
  options.refresh = !arguments.no_refresh;
  options.refresh_gap = std::chrono::seconds(arguments.refresh_gap);
  options.public_url = arguments.public_url;
  options.news.http.addresses.allow_all = arguments.newsroom.allow_private;
  options.news.seed = std::random_device()();
  options.index.private_embedders = arguments.newsroom.allow_private;
  options.on_problem = [](const Error& error) { say("kindred: " + error.message + "\n"); };
  return options;
}

// Raises the limit of open files to the system's maximum, for many connections.
void raise_file_limit() {
  static constexpr rlim_t kEnough = 65'536;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted =
      files.rlim_max == RLIM_INFINITY ? kEnough : std::min(files.rlim_max, kEnough);
  if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= wanted) return;
  files.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &files);  // a lower limit serves too, just fewer at once
}

// For programs that wait for the port: the file appears with its contents complete.
Status write_port(const std::string& path, std::uint16_t port) {
  return write_file_atomically(path, fmt::format("{}\n", port));
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
  return words + fmt::format("Data folder: {}. Press Ctrl-C to stop.\n", options.folder.string());
}

Result<int> run_serve(const ServeArguments& arguments, const CLI::App& verb) {
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
  if (!arguments.port_file.empty())
    KIN_RETURN_IF_ERROR(write_port(arguments.port_file, (*service)->port()));
  if (arguments.open) open_browser(url);
  // A signal handler can set a flag, but not wake a thread that waits on a condition.
  while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  (*service)->stop();
  return kDone;
}

}  // namespace

Command add_serve_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("serve", "Serve the page, the JSON API and the stories feed");
  const auto arguments = std::make_shared<ServeArguments>();
  verb->footer(kExamples);
  verb->add_option("--listen", arguments->listen,
                   "Address to listen on; port 0 chooses a free port")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  add_data_flag(*verb, arguments->newsroom);
  add_address_flag(*verb, arguments->newsroom);
  verb->add_option("--token-file", arguments->token_file,
                   "File whose first line is the token that requests must carry")
      ->type_name("FILE");
  verb->add_option("--tls-cert", arguments->certificate, "Certificate, with its chain (PEM)")
      ->type_name("FILE");
  verb->add_option("--tls-key", arguments->key, "Key of the certificate (PEM)")->type_name("FILE");
  verb->add_option("--public-url", arguments->public_url,
                   "Address of the page for browsers, if a reverse proxy is in front")
      ->type_name("URL");
  verb->add_option("--refresh-gap", arguments->refresh_gap,
                   "Seconds between polls of one feed on request")
      ->type_name("SECONDS")
      ->capture_default_str();
  verb->add_flag("--no-refresh", arguments->no_refresh, "Poll feeds only on request");
  verb->add_flag("--open", arguments->open, "Open the page in the browser");
  verb->add_option("--port-file", arguments->port_file,
                   "Write the port to this file when the server is ready")
      ->type_name("FILE");
  return {verb, [=]() -> Result<int> { return run_serve(*arguments, *verb); }};
}

}  // namespace kin::app
