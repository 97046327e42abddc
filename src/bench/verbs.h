// What the verbs of kindred-bench have in common.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/options.h"
#include "base/result.h"

namespace kin::bench {

// Flags that several verbs have.
void add_temp_flag(app::Verb verb, std::optional<std::filesystem::path>& folder);
void add_threads_flag(app::Verb verb, int& threads);
void add_rounds_flag(app::Verb verb, int& rounds);
void add_runs_flag(app::Verb verb, int& runs);
void add_articles_flag(app::Verb verb, std::filesystem::path& folder);
void add_articles_flag(app::Verb verb, std::optional<std::filesystem::path>& folder);
void add_vectors_flag(app::Verb verb, std::filesystem::path& folder);

// Memory limits, as parse_bytes() reads them, or "default".
Status check_size(const std::optional<std::string>& size);
Status check_sizes(const std::vector<std::string>& sizes);
// Calls `check` first, whose error is wrong usage: a slip would show only after a large corpus was
// written.
app::Command with_check(app::Command command, std::function<Status()> check);

// Prints figures.
template <typename Figures>
Result<int> show(const Result<Figures>& figures, bool json) {
  if (!figures) return figures.error();
  return app::print_result(json ? to_json(*figures) + "\n" : to_table(*figures));
}

// The command of `verb`, with the flag --json: it prints the figures that `measure` returns.
template <typename Measure>
app::Command measured(app::Verb verb, Measure measure) {
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "Print the figures as JSON");
  return {verb, [=]() -> Result<int> { return show(measure(), *json); }};
}

}  // namespace kin::bench
