#include <fmt/format.h>

#include "app/checks.h"
#include "app/command.h"
#include "app/options.h"
#include "app/usage.h"

namespace kin::app {
namespace {

std::string flags_of(Verb verb) {
  std::string flags;
  for (const std::string& name : verb.long_names()) flags += " --" + name;
  return flags.empty() ? flags : flags.substr(1);
}

std::string verbs_of(Verb app) {
  std::string verbs;
  for (const Verb verb : verbs_in(app)) verbs += (verbs.empty() ? "" : " ") + verb.get_name();
  return verbs;
}

// The flags of `app`'s verbs, as cases of the words before them.
std::string bash_cases(Verb app, const std::string& before) {
  std::string cases;
  for (const Verb verb : verbs_in(app)) {
    cases += fmt::format("    \"{}{}\") verbs=\"{}\" flags=\"{}\" ;;\n", before, verb.get_name(),
                         verbs_of(verb), flags_of(verb));
    cases += bash_cases(verb, before + verb.get_name() + " ");
  }
  return cases;
}

std::string bash(Verb app) {
  // The loop walks over the verbs that are written already, and leaves the verbs and flags of the
  // last one.
  return fmt::format(R"(_kindred() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verbs="{}" flags="{}" at=1 before=""
  while [ "$at" -lt "$COMP_CWORD" ] && [[ " $verbs " == *" ${{COMP_WORDS[at]}} "* ]]; do
    before+="${{before:+ }}${{COMP_WORDS[at]}}" at=$((at + 1))
    case "$before" in
{}    esac
  done
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [ -n "$verbs" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _kindred kindred
)",
                     verbs_of(app), flags_of(app), bash_cases(app, ""));
}

std::string zsh(Verb app) {
  // zsh can run the completions of bash.
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

std::string fish_flags(Verb verb, const std::string& condition) {
  std::string script;
  for (const std::string& name : verb.long_names())
    script += fmt::format("complete -c kindred -n '{}' -l {}\n", condition, name);
  return script;
}

// The verbs within a verb, and their flags.
std::string fish_inner(Verb verb) {
  const std::string here = "__fish_seen_subcommand_from " + verb.get_name();
  std::string script;
  for (const Verb inner : verbs_in(verb)) {
    script += fmt::format(
        "complete -c kindred -n '{}; and not __fish_seen_subcommand_from {}' -f -a {} -d {}\n",
        here, verbs_of(verb), inner.get_name(), fish_quoted(inner.get_description()));
    script += fish_flags(
        inner, fmt::format("{}; and __fish_seen_subcommand_from {}", here, inner.get_name()));
  }
  return script;
}

std::string fish(Verb app) {
  std::string script = "complete -c kindred -n __fish_use_subcommand -f\n";
  for (const Verb verb : verbs_in(app)) {
    script += fmt::format("complete -c kindred -n __fish_use_subcommand -a {} -d {}\n",
                          verb.get_name(), fish_quoted(verb.get_description()));
    script += fish_flags(verb, "__fish_seen_subcommand_from " + verb.get_name());
    script += fish_inner(verb);
  }
  return script;
}

}  // namespace

Command add_completions_command(Verb app) {
  const Verb verb = app.add_subcommand("completions",
                                 "Print a script that completes kindred's verbs and options");
  verb.footer(
      "\nExamples:\n  kindred completions bash > /etc/bash_completion.d/kindred\n"
      "  kindred completions fish > ~/.config/fish/completions/kindred.fish");
  const auto shell = std::make_shared<std::string>();
  verb.add_option("SHELL", *shell, "bash, zsh or fish")
      .required()
      .check(one_of({"bash", "zsh", "fish"}));
  return {
      verb, [app, shell]() -> Result<int> {
        return print_result(*shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app));
      }};
}

}  // namespace kin::app
