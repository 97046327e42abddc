#include "bench/verbs.h"

#include <utility>

#include "app/checks.h"
#include "base/memory.h"

namespace kin::bench {
namespace {

using app::Verb;
using app::whole_number;
using app::with_count;

// `folder` is a path, or an optional one.
template <typename Path>
void add_articles(Verb verb, Path& folder) {
  verb.add_option("--articles", folder,
                  "Where scripts/setup --bench put Reuters-21578 (.deps/bench/reuters)")
      .type_name("DIR");
}

}  // namespace

void add_temp_flag(Verb verb, std::optional<std::filesystem::path>& folder) {
  verb.add_option("--temp", folder, "Folder to work in (default: the system's temporary folder)")
      .type_name("DIR");
}

void add_threads_flag(Verb verb, int& threads) {
  verb.add_option("--threads", threads, "Number of threads (default: one per core)")
      .type_name("N")
      .check(whole_number(0, 1024));
}

void add_rounds_flag(Verb verb, int& rounds) {
  with_count(verb.add_option("--rounds", rounds, "How often each program is run"), 1, 100);
}

void add_runs_flag(Verb verb, int& runs) {
  with_count(verb.add_option("--runs", runs, "How often the time is measured"), 1, 100);
}

void add_articles_flag(Verb verb, std::filesystem::path& folder) {
  add_articles(verb, folder);
}

void add_articles_flag(Verb verb, std::optional<std::filesystem::path>& folder) {
  add_articles(verb, folder);
}

void add_vectors_flag(Verb verb, std::filesystem::path& folder) {
  verb.add_option("--data", folder, "Where scripts/setup --bench put the vectors")
      .type_name("DIR")
      .capture_default_str();
}

Status check_size(const std::optional<std::string>& size) {
  if (size && *size != "default") KIN_RETURN_IF_ERROR(parse_bytes(*size));
  return Done{};
}

Status check_sizes(const std::vector<std::string>& sizes) {
  for (const std::string& size : sizes) KIN_RETURN_IF_ERROR(check_size(size));
  return Done{};
}

app::Command with_check(app::Command command, std::function<Status()> check) {
  const Verb verb = command.verb;
  return {verb, [verb, run = std::move(command.run), check = std::move(check)]() -> Result<int> {
            if (const Status checked = check(); !checked.ok())
              return app::wrong_usage(checked.error(), verb);
            return run();
          }};
}

}  // namespace kin::bench
