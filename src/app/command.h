// A verb of the command line.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "app/stop_signals.h"
#include "base/result.h"

namespace CLI {
class App;
}  // namespace CLI

namespace kin::app {

// Exit codes of the program.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

// A verb, and what to call if the user chose it: an exit code, or an error that main prints before
// it exits with kFailed.
struct Command {
  CLI::App* verb;
  std::function<Result<int>()> run;
};

// Each adds its verb to `app`.
Command add_dedup_command(CLI::App& app);
Command add_plan_command(CLI::App& app);
Command add_explain_command(CLI::App& app);
Command add_eval_command(CLI::App& app);
Command add_seen_command(CLI::App& app);
Command add_feeds_command(CLI::App& app);
Command add_stories_command(CLI::App& app);
Command add_index_command(CLI::App& app);
Command add_search_command(CLI::App& app);
Command add_serve_command(CLI::App& app);
Command add_completions_command(CLI::App& app);

// All of them, in the order in which `kindred --help` lists them.
std::span<Command (*const)(CLI::App&)> all_commands();

// Prints what is wrong with the way the command was called, and how to find out more.
int wrong_usage(const Error& error, const CLI::App& verb);

// What a command that could not finish ends with: the error, or the exit code that goes with the
// signal that stopped it, after saying so and how to `go_on`, if there is a way.
Result<int> unfinished(const Error& error, const StopSignals& signals, std::string_view go_on = {});

// Calls the command and prints its error, if it has one, or what an exception says that nobody
// expected.
int exit_code_of(const std::function<Result<int>()>& command);

}  // namespace kin::app
