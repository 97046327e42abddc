#include "cloud/resp/parser.h"

#include <fmt/format.h>

#include "base/ascii.h"

namespace kin::cloud {
namespace {

constexpr int kDeepest = 8;
constexpr std::int64_t kLongestText = std::int64_t{512} << 20;
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
constexpr std::size_t kLongestLine = std::size_t{64} << 10;
// Consumed bytes are kept until there are this many.
constexpr std::size_t kCompactAt = std::size_t{1} << 20;

Error not_resp(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the server does not speak RESP: {}", what)};
}

}  // namespace

Result<std::optional<RespValue>> RespParser::next() {
  std::size_t at = taken_;
  RespValue value;
  KIN_TRY(const Got got, read(at, 0, value));
  if (got == Got::kPart) return std::optional<RespValue>();
  taken_ = at;
  if (taken_ == buffer_.size() || taken_ > kCompactAt) {
    buffer_.erase(0, taken_);
    taken_ = 0;
  }
  return std::optional(std::move(value));
}

Result<RespParser::Got> RespParser::read(std::size_t& at, int depth, RespValue& into) const {
  if (depth > kDeepest) return not_resp("arrays are nested too deeply");
  const std::size_t end = buffer_.find("\r\n", at);
  if (end == std::string::npos)
    return buffer_.size() - at > kLongestLine ? Result<Got>(not_resp("a line has no end"))
                                              : Result<Got>(Got::kPart);
  const char type = end == at ? '\0' : buffer_[at];
  const std::string_view line =
      std::string_view(buffer_).substr(at + 1, end > at ? end - at - 1 : 0);
  at = end + 2;
  if (type == '+' || type == '-') {
    into = {.kind = type == '+' ? RespValue::Kind::kText : RespValue::Kind::kError,
            .text = std::string(line)};
    return Got::kWhole;
  }
  if (type != ':' && type != '$' && type != '*')
    return not_resp(fmt::format("a reply begins with byte {}", static_cast<unsigned char>(type)));
  const auto number = parse_number<std::int64_t>(line);
  if (!number) return not_resp("a number is not valid");
  if (type == ':') {
    into = {.kind = RespValue::Kind::kNumber, .number = *number};
    return Got::kWhole;
  }
  if (*number == -1) {
    into = {.kind = RespValue::Kind::kNothing};
    return Got::kWhole;
  }
  if (*number < 0 || *number > (type == '$' ? kLongestText : kMostElements))
    return not_resp("a length is negative or too large");
  const auto length = static_cast<std::size_t>(*number);
  if (type == '$') {
    if (buffer_.size() - at < length + 2) return Got::kPart;
    if (std::string_view(buffer_).substr(at + length, 2) != "\r\n")
      return not_resp("a text does not end at its stated length");
    into = {.kind = RespValue::Kind::kText, .text = buffer_.substr(at, length)};
    at += length + 2;
    return Got::kWhole;
  }
  into = {.kind = RespValue::Kind::kArray};
  for (std::size_t i = 0; i < length; ++i) {
    KIN_TRY(const Got got, read(at, depth + 1, into.items.emplace_back()));
    if (got == Got::kPart) return got;
  }
  return Got::kWhole;
}

void append_command(std::string& out, const RespCommand& command) {
  out += fmt::format("*{}\r\n", command.size());
  for (const std::string& word : command) {
    out += fmt::format("${}\r\n", word.size());
    out += word;
    out += "\r\n";
  }
}

}  // namespace kin::cloud
