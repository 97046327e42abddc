#include "app/program.h"

#include <fmt/format.h>

#include <csignal>
#include <span>
#include <utility>

#include "app/dashed_words.h"
#include "app/help_text.h"
#include "app/print.h"
#include "app/usage.h"
#include "base/check.h"
#include "base/version.h"

namespace kin::app {
namespace {

std::vector<Command> add_verbs(const Program& program, Verb app) {
  use_help_text(app, help_columns());
  app.set_version_flag("--version").require_subcommand(1, 1).footer(program.footer);
  std::vector<Command> commands;
  for (const auto add : program.verbs) commands.push_back(add(app));
  return commands;
}

Result<int> run(const Program& program, std::vector<std::string> arguments) {
  const CommandLine line(program.name, program.description);
  const Verb app = line.program();
  std::vector<Command> commands = add_verbs(program, app);
  for (const Command& command : commands) {
    // Before parsing, because CLI11 takes every word with a dash for an option.
    if (command.takes_dashed_words && !arguments.empty() &&
        arguments.front() == command.verb.get_name())
      hide_dashes(command.verb, std::span(arguments).subspan(1));
  }
  const Result<Asked> asked = parse(app, std::move(arguments));
  if (!asked) return wrong_usage(asked.error(), chosen_verb(app));
  switch (*asked) {
    case Asked::kVerb: return with_verbs(app, std::move(commands)).run();
    case Asked::kHelp: return print_result(app.help());
    case Asked::kVersion: return print_result(fmt::format("{} {}\n", program.name, kVersion));
    case Asked::kNothing:
      // The help says more than a message would; the exit code is that of wrong usage.
      say(app.help());
      return kWrongUsage;
  }
  KIN_UNREACHABLE();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error we report
  return exit_code_of(program.name, [&] { return run(program, {argv + 1, argv + argc}); });
}

}  // namespace kin::app
