#include "app/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <new>

#include "app/print.h"
#include "app/usage.h"

namespace kin::app {

std::span<Command (*const)(CLI::App&)> all_commands() {
  static constexpr std::array kCommands{
      &add_dedup_command,  &add_plan_command,  &add_explain_command,    &add_eval_command,
      &add_seen_command,   &add_feeds_command, &add_stories_command,    &add_index_command,
      &add_search_command, &add_serve_command, &add_completions_command};
  return kCommands;
}

int wrong_usage(const Error& error, const CLI::App& verb) {
  say(fmt::format("kindred: {}\nRun with --help for more information: {} --help\n", error.message,
                  full_name(verb)));
  return kWrongUsage;
}

Result<int> unfinished(const Error& error, const StopSignals& signals, std::string_view go_on) {
  const auto code = signals.exit_code();
  if (!code) return error;
  say(fmt::format("kindred: stopped{}{}\n", go_on.empty() ? "" : "; ", go_on));
  return *code;
}

int exit_code_of(const std::function<Result<int>()>& command) {
  std::string message;
  try {
    const Result<int> outcome = command();
    if (outcome.ok()) return *outcome;
    message = outcome.error().message;
  } catch (const std::bad_alloc&) {
    message = "there is not enough memory (give less with --max-memory, or use fewer --threads)";
  } catch (const std::exception& exception) {
    message = exception.what();
  }
  say("kindred: " + message + "\n");
  return kFailed;
}

}  // namespace kin::app
