#include "bench/nodes/fleet.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>
#include <utility>

#include "base/file.h"
#include "bench/child_process.h"
#include "server/testing/test_client.h"

namespace kin::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{60};

}  // namespace

Result<Server> Server::start(const std::vector<std::string>& words, const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return Error{Code::kUnavailable, fmt::format("{}: {}", folder.string(), failed.message())};
  const fs::path port_file = folder / "port";
  std::vector<std::string> all{"kindred"};
  all.insert(all.end(), words.begin(), words.end());
  for (const std::string& word :
       {std::string("--data"), (folder / "data").string(), std::string("--listen"),
        std::string("127.0.0.1:0"), std::string("--port-file"), port_file.string()})
    all.push_back(word);
  KIN_TRY(const pid_t process, start_beside(all));
  Server server(process, 0);  // kills it if it does not listen
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end && server.runs()) {
    if (const auto text = read_file(port_file); text.ok() && !text->empty()) {
      server.port_ = static_cast<std::uint16_t>(std::stoul(*text));
      return server;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Error{Code::kUnavailable, fmt::format("kindred {} does not listen", words.front())};
}

bool Server::runs() {
  int status = 0;
  if (process_ != 0 && ::waitpid(process_, &status, WNOHANG) != 0) process_ = 0;
  return process_ != 0;
}

Server::Server(Server&& other) noexcept
    : process_(std::exchange(other.process_, 0)), port_(other.port_) {}

Server::~Server() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  int status = 0;
  ::waitpid(process_, &status, 0);
}

std::string Server::address() const {
  return fmt::format("127.0.0.1:{}", port_);
}

double Server::processor_seconds() const {
  const auto text = read_file(fmt::format("/proc/{}/stat", process_));
  if (!text.ok()) return 0;
  // The name, in parentheses, may have spaces. User and system time are fields 14 and 15.
  std::istringstream fields(text->substr(text->rfind(')') + 2));
  std::string field;
  double ticks = 0;
  for (int number = 3; number <= 15 && fields >> field; ++number) {
    if (number >= 14) ticks += std::stod(field);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Result<std::unique_ptr<Fleet>> Fleet::start(std::size_t nodes, const fs::path& folder) {
  std::unique_ptr<Fleet> fleet(new Fleet());
  std::vector<std::string> words{"router"};
  for (std::size_t i = 0; i < nodes; ++i) {
    KIN_TRY(Server node, Server::start({"node"}, folder / fmt::format("node{}", i)));
    words.insert(words.end(), {"--node", node.address()});
    fleet->nodes_.push_back(std::move(node));
  }
  KIN_TRY(Server router, Server::start(words, folder / "router"));
  fleet->router_ = std::make_unique<Server>(std::move(router));
  return fleet;
}

double Fleet::processor_seconds() const {
  double all = router_->processor_seconds();
  for (const Server& node : nodes_) all += node.processor_seconds();
  return all;
}

void Fleet::settle() const {
  constexpr std::chrono::milliseconds kLook{500};
  constexpr double kQuiet = 0.02;  // seconds of processor time: two ticks of the system's clock
  const auto end = std::chrono::steady_clock::now() + kPatience;
  double before = processor_seconds();
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kLook);
    const double after = processor_seconds();
    if (after - before <= kQuiet) return;
    before = after;
  }
}

struct Caller::State {
  explicit State(std::uint16_t port) : client(port) {}
  server::TestClient client;
};

Caller::Caller(std::uint16_t port) : state_(std::make_unique<State>(port)) {}
Caller::~Caller() = default;

Result<std::string> Caller::ask(const std::string& path, const std::string& request) {
  auto answer = state_->client.ask(request);
  if (answer.status >= 200 && answer.status < 300) return std::move(answer.body);
  return Error{Code::kUnavailable,
               fmt::format("{}: status {}: {}", path, answer.status, answer.body)};
}

Result<std::string> Caller::get(const std::string& path) {
  return ask(path, server::request_text("GET", path));
}

Result<std::string> Caller::post(const std::string& path, const std::string& json) {
  return ask(path, server::json_request("POST", "/api/v1" + path, json));
}

}  // namespace kin::bench
