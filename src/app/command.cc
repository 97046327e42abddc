#include "app/command.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <new>

#include "app/options.h"
#include "app/print.h"
#include "app/usage.h"

namespace kin::app {

std::span<Command (*const)(Verb)> all_commands() {
  static constexpr std::array kCommands{
      &add_dedup_command,   &add_plan_command,   &add_explain_command, &add_eval_command,
      &add_seen_command,    &add_store_command,  &add_ledger_command,  &add_feeds_command,
      &add_stories_command, &add_index_command,  &add_search_command,  &add_serve_command,
      &add_node_command,    &add_router_command, &add_shards_command,  &add_completions_command};
  return kCommands;
}

Command with_verbs(Verb verb, std::vector<Command> inner) {
  return {verb, [inner = std::move(inner)]() -> Result<int> {
            for (const Command& command : inner) {
              if (command.verb.parsed()) return command.run();
            }
            return kWrongUsage;
          }};
}

Result<int> print_result(std::string_view text) {
  KIN_RETURN_IF_ERROR(print(text));
  return kDone;
}

int wrong_usage(const Error& error, Verb verb) {
  const std::string name = full_name(verb);
  say(fmt::format("{}: {}\nRun with --help for more information: {} --help\n",
                  name.substr(0, name.find(' ')), error.message, name));
  return kWrongUsage;
}

Result<int> unfinished(const Error& error, const StopSignals& signals, const StopNotice& notice) {
  const auto code = signals.exit_code();
  if (!code) return error;
  say(fmt::format("{}: stopped{}{}\n", notice.program, notice.go_on.empty() ? "" : "; ",
                  notice.go_on));
  return *code;
}

int exit_code_of(std::string_view program, const std::function<Result<int>()>& command) {
  std::string message;
  try {
    const Result<int> outcome = command();
    if (outcome.ok()) return *outcome;
    message = outcome.error().message;
    // Our code throws nothing, but libraries do.
  } catch (const std::bad_alloc&) {
    // The two options that limit memory.
    message = "there is not enough memory (give less with --max-memory, or use fewer --threads)";
  } catch (const std::exception& exception) {
    message = exception.what();
  }
  say(fmt::format("{}: {}\n", program, message));
  return kFailed;
}

}  // namespace kin::app
