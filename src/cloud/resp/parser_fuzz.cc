// Replies of any bytes: the same replies and the same end, however the bytes are divided.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cloud/resp/parser.h"

namespace {

// The replies, and whether the input is RESP up to its end.
std::pair<std::vector<kin::cloud::RespValue>, bool> replies(std::string_view input,
                                                            std::size_t piece) {
  kin::cloud::RespParser parser;
  std::vector<kin::cloud::RespValue> values;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    parser.add(input.substr(at, piece));
    while (true) {
      auto reply = parser.next();
      if (!reply.ok()) return {values, false};
      if (!*reply) break;
      values.push_back(std::move(**reply));
    }
  }
  return {values, true};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto whole = replies(input, size + 1);
  if (replies(input, 1) != whole || replies(input, 7) != whole) std::abort();
  return 0;
}
