// A verb of the command line.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "app/stop_signals.h"
#include "base/result.h"

namespace kin::app {

// Exit codes of the program.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

// A verb, and the function to call if the user chose it. It returns the exit code, or an error that
// is printed before the program exits with kFailed.
struct Command {
  Verb verb;
  std::function<Result<int>()> run;
  bool takes_dashed_words = false;  // see dashed_words.h
};

// Each adds its verb to `app`.
Command add_dedup_command(Verb app);
Command add_plan_command(Verb app);
Command add_explain_command(Verb app);
Command add_eval_command(Verb app);
Command add_seen_command(Verb app);
Command add_store_command(Verb app);
Command add_ledger_command(Verb app);
Command add_feeds_command(Verb app);
Command add_stories_command(Verb app);
Command add_index_command(Verb app);
Command add_search_command(Verb app);
Command add_serve_command(Verb app);
Command add_node_command(Verb app);
Command add_router_command(Verb app);
Command add_shards_command(Verb app);
Command add_completions_command(Verb app);

// All of them, in the order in which `kindred --help` lists them.
std::span<Command (*const)(Verb)> all_commands();

// The command of a verb that has verbs of its own: it runs the one that the user chose.
Command with_verbs(Verb verb, std::vector<Command> inner);

// Prints the result of a command, as its last act. Returns kDone.
Result<int> print_result(std::string_view text);

// Reports wrong usage of `verb` on stderr, with the command that shows its help. Returns
// kWrongUsage.
int wrong_usage(const Error& error, Verb verb);

struct StopNotice {
  std::string_view program = "kindred";
  std::string_view go_on = {};  // how to continue; empty: nothing is printed
};
// Ends a command that did not finish. If a signal stopped it, says so on stderr and returns the
// signal's exit code; otherwise returns the error.
Result<int> unfinished(const Error& error, const StopSignals& signals,
                       const StopNotice& notice = {});

// Runs the command. Prints its error, or the exception that it threw, after the program's name.
int exit_code_of(std::string_view program, const std::function<Result<int>()>& command);

}  // namespace kin::app
