#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <vector>

#include "app/command.h"
#include "app/print.h"
#include "app/usage.h"
#include "base/version.h"

namespace kin::app {
namespace {

// Help and versions are "errors" of the parser too.
Result<int> after_parsing(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
    KIN_RETURN_IF_ERROR(print(fmt::format("kindred {}\n", kVersion)));
    return kDone;
  }
  if (error.get_exit_code() == 0) {
    KIN_RETURN_IF_ERROR(print(app.help()));
    return kDone;
  }
  return wrong_usage({Code::kInvalidArgument, in_plain_words(error, app)}, chosen_verb(app));
}

Result<int> run(int argc, char** argv) {
  CLI::App app(
      "Kindred answers three questions about documents: have I seen this, what belongs together, "
      "what is related?",
      "kindred");
  app.set_version_flag("--version", fmt::format("kindred {}", kVersion));
  app.require_subcommand(1);
  app.footer("`kindred VERB --help` shows the options of a verb, with examples.");
  std::vector<Command> commands;
  for (const auto add : all_commands()) commands.push_back(add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return after_parsing(error, app);
  }
  for (const Command& command : commands) {
    if (command.verb->parsed()) return command.run();
  }
  return kWrongUsage;
}

}  // namespace
}  // namespace kin::app

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error we report
  return kin::app::exit_code_of([&] { return kin::app::run(argc, argv); });
}
