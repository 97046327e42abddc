#include <fmt/format.h>

#include <chrono>

#include "app/progress_line.h"
#include "app/words.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "bench/seen/seen.h"

namespace kin::bench {

Result<SeenCheckReport> check_seen(const SeenBench& bench, const std::atomic<bool>& stop) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  store::SeenCheckOptions options;
  options.operations = *bench.check;
  options.seed = bench.seed;
  options.commit_every = bench.commit_every;
  if (bench.max_memory) {
    KIN_TRY(options.set.max_memory, parse_bytes(*bench.max_memory));
  }
  std::atomic<std::uint64_t> done{0};
  const app::ProgressLine line(
      [&](double seconds) {
        return fmt::format("{} of {} operations, all right so far  {}", app::short_count(done),
                           app::short_count(options.operations), app::short_duration(seconds));
      },
      true);
  const auto start = std::chrono::steady_clock::now();
  const auto progress = [&](const store::SeenCheckFigures& figures) -> Status {
    done = figures.operations;
    if (stop) return Error{Code::kCancelled, "stopped"};
    return Done{};
  };
  KIN_TRY(const store::SeenCheckFigures figures,
          store::check_seen_set(folder.path() / "checked.seen", options, progress));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return SeenCheckReport{.figures = figures, .seconds = taken.count()};
}

std::string to_json(const SeenCheckReport& report) {
  const store::SeenCheckFigures& figures = report.figures;
  JsonWriter json(2);
  json.begin_object().field("bench", "seen_check").field("operations", figures.operations);
  json.field("wrong_answers", 0).field("added", figures.added);
  json.field("repeated", figures.repeated).field("found", figures.found);
  json.field("absent", figures.absent).field("commits", figures.commits);
  json.field("flushes", figures.flushes).field("merges", figures.merges);
  return json.field("reopens", figures.reopens).field("seconds", report.seconds).end().take();
}

std::string to_table(const SeenCheckReport& report) {
  const store::SeenCheckFigures& figures = report.figures;
  return fmt::format(
      "{} operations, every answer right: {} new, {} repeated, {} found, {} absent;\n"
      "{} commits, {} tables written out, {} merges, {} times opened again; {}\n",
      app::with_commas(figures.operations), app::with_commas(figures.added),
      app::with_commas(figures.repeated), app::with_commas(figures.found),
      app::with_commas(figures.absent), app::with_commas(figures.commits),
      app::with_commas(figures.flushes), app::with_commas(figures.merges),
      app::with_commas(figures.reopens), app::short_duration(report.seconds));
}

}  // namespace kin::bench
