#include "app/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>

namespace kin::app {

std::span<Command (*const)(CLI::App&)> all_commands() {
  static constexpr std::array kCommands{&add_dedup_command,   &add_plan_command,
                                        &add_explain_command, &add_eval_command,
                                        &add_bench_command,   &add_completions_command};
  return kCommands;
}

int wrong_usage(const Error& error, const CLI::App& verb) {
  fmt::print(stderr, "kindred: {}\nRun with --help for more information: kindred {} --help\n",
             error.message, verb.get_name());
  return kWrongUsage;
}

}  // namespace kin::app
