#include "app/print.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace kin::app {

Status print(std::string_view text, std::FILE* to) {
  // fwrite() may fail without setting it, and an old value would be misleading.
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

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace kin::app
