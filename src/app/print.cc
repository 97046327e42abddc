#include "app/print.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace kin::app {

Status print(std::string_view text, std::FILE* to) {
  errno = 0;
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), to);
  if (written == text.size() && std::fflush(to) == 0 && std::ferror(to) == 0) return Done{};
  return Error{errno == EPIPE ? Code::kCancelled : Code::kUnavailable,
               fmt::format("the result could not be printed on standard {}: {}",
                           to == stderr ? "error" : "output",
                           errno != 0 ? std::strerror(errno) : "write error")};
}

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace kin::app
