// Options of the verbs that listen at an address.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "app/options.h"
#include "base/result.h"
#include "server/web_service.h"

namespace kin::app {

struct ListenFlags {
  std::string listen = {};  // ADDRESS:PORT
  std::string token_file = {};
  std::string certificate = {};
  std::string key = {};
  std::string port_file = {};
};
// --listen, --token-file, --tls-cert, --tls-key and --port-file.
void add_listen_flags(Verb verb, ListenFlags& flags);
// --log, for the file of a log of requests.
void add_log_flag(Verb verb, std::string& file, const char* flag = "--log");

struct Listening {
  std::string address = {};
  std::uint16_t port = 0;
  std::string token = {};  // empty: none
  std::optional<server::TlsFiles> tls = {};
};
// kInvalidArgument names the option that is wrong.
Result<Listening> understand(const ListenFlags& flags);
// The token on the first line of a file.
Result<std::string> read_token(const std::string& path);

// For programs that wait for the port: the file appears with its contents complete. Nothing is
// written if no file was asked for.
Status write_port(const ListenFlags& flags, std::uint16_t port);

// Raises the limit of open files to the system's maximum, for many connections.
void raise_file_limit();
// Returns once `stop` is set, by StopSignals.
void wait_for_signal(const std::atomic<bool>& stop);

}  // namespace kin::app
