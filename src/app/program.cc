#include "app/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <span>

#include "app/dashed_words.h"
#include "app/help_text.h"
#include "app/print.h"
#include "app/usage.h"
#include "base/version.h"

namespace kin::app {
namespace {

// CLI11 throws for --help and --version too.
Result<int> after_parsing(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr)
    return print_result(fmt::format("{} {}\n", app.get_name(), kVersion));
  if (error.get_exit_code() == 0) return print_result(app.help());
  // The help says more than a message would; the exit code is that of wrong usage.
  if (lacks_verb(error, app)) {
    say(app.help());
    return kWrongUsage;
  }
  return wrong_usage({Code::kInvalidArgument, in_plain_words(error, app)}, chosen_verb(app));
}

Result<int> run(const Program& program, int argc, char** argv) {
  CLI::App app(program.description, program.name);
  use_help_text(app, help_columns());
  app.set_version_flag("--version", fmt::format("{} {}", program.name, kVersion));
  app.require_subcommand(1);
  app.footer(program.footer);
  std::vector<Command> commands;
  for (const auto add : program.verbs) commands.push_back(add(app));
  std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const Command& command : commands) {
    // Before parsing, because CLI11 takes every word with a dash for an option.
    if (command.takes_dashed_words && !arguments.empty() &&
        arguments.front() == command.verb->get_name())
      hide_dashes(*command.verb, std::span(arguments).subspan(1));
  }
  try {
    std::ranges::reverse(arguments);  // as CLI11 wants them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return after_parsing(error, app);
  }
  return with_verbs(app, std::move(commands)).run();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error we report
  return exit_code_of(program.name, [&] { return run(program, argc, argv); });
}

}  // namespace kin::app
