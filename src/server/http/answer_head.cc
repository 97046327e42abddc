#include "server/http/answer_head.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace kin::server {
namespace {

// A line break in a value would begin another field.
bool is_safe(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
}

void add(std::string& head, const net::Header& field) {
  if (!is_safe(field.name) || !is_safe(field.value)) return;
  fmt::format_to(std::back_inserter(head), "{}: {}\r\n", field.name, field.value);
}

}  // namespace

std::string answer_head(const Response& response, const AnswerSetting& setting) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n", response.status,
                  reason_of(response.status), fmt::gmtime(std::time(nullptr)));
  for (const net::Header& field : response.headers) add(head, field);
  if (setting.common != nullptr) {
    for (const net::Header& field : *setting.common) {
      if (!net::find_header(response.headers, field.name)) add(head, field);
    }
  }
  // None of these has a body whose length is known.
  const bool bodiless = response.status == 204 || response.status == 304 || response.events;
  if (!bodiless)
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.size());
  if (!setting.keep_alive) {
    head += "Connection: close\r\n";
  } else if (setting.old_version) {
    head += "Connection: keep-alive\r\n";
  }
  return head + "\r\n";
}

}  // namespace kin::server
