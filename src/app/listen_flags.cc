#include "app/listen_flags.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>

#include "app/options.h"
#include "base/file.h"

namespace kin::app {
namespace {

Error bad_listen(const std::string& text) {
  return {Code::kInvalidArgument,
          fmt::format("--listen: \"{}\" is not ADDRESS:PORT, such as 127.0.0.1:8722 or [::1]:8722",
                      text)};
}

Status understand_listen(const std::string& text, Listening& options) {
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

Status understand_safety(const ListenFlags& arguments, Listening& options) {
  if (arguments.certificate.empty() != arguments.key.empty())
    return Error{Code::kInvalidArgument, "--tls-cert and --tls-key go together"};
  if (!arguments.certificate.empty())
    options.tls = server::TlsFiles{.certificate = arguments.certificate, .key = arguments.key};
  if (!arguments.token_file.empty()) {
    KIN_TRY(options.token, read_token(arguments.token_file));
  }
  return Done{};
}

}  // namespace

void add_listen_flags(Verb verb, ListenFlags& flags) {
  verb.add_option("--listen", flags.listen, "Address to listen on; port 0 chooses a free port")
      .type_name("ADDRESS:PORT")
      .capture_default_str();
  verb.add_option("--token-file", flags.token_file,
                  "File whose first line is the token that requests must carry")
      .type_name("FILE");
  verb.add_option("--tls-cert", flags.certificate, "Certificate, with its chain (PEM)")
      .type_name("FILE");
  verb.add_option("--tls-key", flags.key, "Key of the certificate (PEM)").type_name("FILE");
  verb.add_option("--port-file", flags.port_file,
                  "Write the port to this file when the server is ready")
      .type_name("FILE");
}

void add_log_flag(Verb verb, std::string& file, const char* flag) {
  verb.add_option(flag, file,
                  "Append a line of JSON about each request to this file; - is standard error")
      .type_name("FILE");
}

Result<Listening> understand(const ListenFlags& flags) {
  Listening listening;
  KIN_RETURN_IF_ERROR(understand_listen(flags.listen, listening));
  KIN_RETURN_IF_ERROR(understand_safety(flags, listening));
  return listening;
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

Status write_port(const ListenFlags& flags, std::uint16_t port) {
  if (flags.port_file.empty()) return Done{};
  return write_file_atomically(flags.port_file, fmt::format("{}\n", port));
}

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

void wait_for_signal(const std::atomic<bool>& stop) {
  // A signal handler can set a flag, but not wake a thread that waits on a condition.
  while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace kin::app
