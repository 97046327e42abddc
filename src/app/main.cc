#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <vector>

#include "app/command.h"
#include "base/version.h"

namespace kin::app {
namespace {

int run(int argc, char** argv) {
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
    const int code = app.exit(error);
    return code == 0 ? kDone : kWrongUsage;
  }
  for (const Command& command : commands) {
    if (!command.verb->parsed()) continue;
    const Result<int> outcome = command.run();
    if (outcome.ok()) return *outcome;
    fmt::print(stderr, "kindred: {}\n", outcome.error().message);
    return kFailed;
  }
  return kWrongUsage;
}

}  // namespace
}  // namespace kin::app

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error we report
  return kin::app::run(argc, argv);
}
