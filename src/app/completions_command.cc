#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/checks.h"
#include "app/command.h"
#include "app/print.h"

namespace kin::app {
namespace {

std::string flags_of(const CLI::App& verb) {
  std::string flags;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) flags += " --" + name;
  }
  return flags.empty() ? flags : flags.substr(1);
}

std::string verbs_of(const CLI::App& app) {
  std::string verbs;
  for (const CLI::App* verb : app.get_subcommands({}))
    verbs += (verbs.empty() ? "" : " ") + verb->get_name();
  return verbs;
}

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* verb : app.get_subcommands({})) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", verb->get_name(), flags_of(*verb));
  }
  return fmt::format(R"(_kindred() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words="{}"
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [ "$COMP_CWORD" -gt 1 ] && [[ "$current" != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _kindred kindred
)",
                     verbs_of(app), cases);
}

std::string zsh(const CLI::App& app) {
  return "#compdef kindred\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app);
}

// Between quotes, for fish, where a backslash escapes a quote even there.
std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish(const CLI::App& app) {
  std::string script = "complete -c kindred -n __fish_use_subcommand -f\n";
  for (const CLI::App* verb : app.get_subcommands({})) {
    script += fmt::format("complete -c kindred -n __fish_use_subcommand -a {} -d {}\n",
                          verb->get_name(), fish_quoted(verb->get_description()));
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script += fmt::format("complete -c kindred -n '__fish_seen_subcommand_from {}' -l {}\n",
                              verb->get_name(), name);
      }
    }
  }
  return script;
}

}  // namespace

Command add_completions_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("completions",
                                      "Print a script that completes kindred's verbs and options");
  verb->footer(
      "\nExamples:\n  kindred completions bash > /etc/bash_completion.d/kindred\n"
      "  kindred completions fish > ~/.config/fish/completions/kindred.fish");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  return {verb, [&app, shell]() -> Result<int> {
            KIN_RETURN_IF_ERROR(print(*shell == "bash"  ? bash(app)
                                      : *shell == "zsh" ? zsh(app)
                                                        : fish(app)));
            return kDone;
          }};
}

}  // namespace kin::app
