// RESP, the protocol of Redis (version 2): parses replies and encodes commands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/resp_client.h"

namespace kin::cloud {

// Takes bytes in pieces of any size and gives whole replies. One thread only.
class RespParser {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  // The next reply; nothing if it is not complete yet. kDataLoss if it is not RESP, is nested
  // deeper than 8 arrays, or has a text of more than 512 MB: then the connection is unusable.
  Result<std::optional<RespValue>> next();

 private:
  enum class Got { kWhole, kPart };
  Result<Got> read(std::size_t& at, int depth, RespValue& into) const;

  std::string buffer_;
  std::size_t taken_ = 0;  // of the buffer, by replies that were given out
};

void append_command(std::string& out, const RespCommand& command);

}  // namespace kin::cloud
