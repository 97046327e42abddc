#include "bench/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

namespace kin::bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Error failed(const std::vector<std::string>& arguments, const std::string& why) {
  return {Code::kUnavailable, fmt::format("{}: {}", fmt::join(arguments, " "), why)};
}

}  // namespace

Result<pid_t> start_beside(const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return failed(arguments, error.message());
  // The program of the same build.
  const std::string program = (self.parent_path() / arguments.front()).string();
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // The child's output does not belong among the figures.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int spawned =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return failed(arguments, std::strerror(spawned));
  return child;
}

Result<ChildUsage> run_beside(const std::vector<std::string>& arguments) {
  const auto started = std::chrono::steady_clock::now();
  KIN_TRY(const pid_t child, start_beside(arguments));
  int status = 0;
  rusage usage{};
  pid_t ended = 0;
  do {
    ended = ::wait4(child, &status, 0, &usage);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return failed(arguments, std::strerror(errno));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  if (!WIFEXITED(status)) return failed(arguments, "it was killed");
  if (WEXITSTATUS(status) != 0)
    return failed(arguments, fmt::format("exit code {}", WEXITSTATUS(status)));
  return ChildUsage{.seconds = seconds.count(),
                    .cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
                    .peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024};
}

}  // namespace kin::bench
