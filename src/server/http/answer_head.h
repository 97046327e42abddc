// The status line and header fields of an answer. Private to HttpServer.
#pragma once

#include <string>
#include <vector>

#include "server/http/message.h"

namespace kin::server {

struct AnswerSetting {
  bool keep_alive = false;
  bool old_version = false;  // the request was HTTP/1.0
  const std::vector<net::Header>* common = nullptr;
};

// Ends with the empty line. Fields with control characters in name or value are left out.
// Thread-safe.
std::string answer_head(const Response& response, const AnswerSetting& setting);

}  // namespace kin::server
