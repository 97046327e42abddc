#include "router/testing/seeds.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "router/testing/shrink.h"

namespace kin::router {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace

std::uint64_t first_seed() {
  return setting("KIN_FIRST_SEED", 1);
}

std::uint64_t seeds(std::uint64_t otherwise) {
  return setting("KIN_SEEDS", otherwise);
}

std::string tell(const RunOptions& options, const RunReport& report) {
  // Making it small may take minutes.
  std::fputs(fmt::format("seed {}: {}\n", options.seed, *report.violation).c_str(), stderr);
  if (std::getenv("KIN_NOTES") != nullptr) {
    for (const std::string& note : report.notes) std::fputs((note + "\n").c_str(), stderr);
    return "KIN_NOTES was set: the whole run is told, and not made small";
  }
  const Shrunk small = shrink(options, report);
  std::string text =
      fmt::format("seed {}: {}\n{} of its {} parts are enough: {}\nwhat happens:\n", options.seed,
                  *report.violation, small.parts, report.parts, *small.report.violation);
  for (const std::string& note : small.report.notes) text += note + "\n";
  return text;
}

RunOptions everything(std::uint64_t seed, Sabotage sabotage) {
  return {.seed = seed,
          .nodes = seed % 5 == 0 ? 3U : 2U,
          .followers = 1 + seed / 8 % 2,
          .moves = seed % 4 != 3,
          .divides = seed % 2 == 0 || seed % 8 == 5,
          .joins = seed % 4 == 1,
          .sabotage = sabotage};
}

std::uint64_t first_violation(std::uint64_t most,
                              const std::function<RunOptions(std::uint64_t)>& options) {
  for (std::uint64_t seed = 1; seed <= most; ++seed) {
    if (run_cluster(options(seed)).violation) return seed;
  }
  return 0;
}

}  // namespace kin::router
