#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "app/checks.h"
#include "app/command.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/seen/filter.h"
#include "app/seen/report.h"
#include "app/words.h"
#include "base/memory.h"

namespace kin::app {
namespace {

using Print = SeenFilterOptions::Print;
using store::IdKind;
using store::SeenOptions;
using store::SeenSet;

constexpr const char* kExamples = R"(
Examples:
  kindred seen add crawl.seen urls.txt
  kindred seen add orders.seen 'orders-*.parquet' --column order_id --numbers
  tail -f urls | kindred seen add crawl.seen --print-new | fetch
  kindred seen check crawl.seen urls.txt --print-new > not-yet.txt
  kindred seen add crawl.seen --fresh results.jsonl --column url
  kindred seen stats crawl.seen
  kindred seen verify crawl.seen

A set is a folder. Its answers are exact, it may be larger than memory, and added ids survive crashes. One
process can add at a time, while others check. `kindred seen VERB --help` shows the options of a verb.)";

constexpr const char* kAddExamples = R"(
Examples:
  kindred seen add crawl.seen urls.txt
  cut -f1 log.tsv | kindred seen add crawl.seen --json
  tail -f urls | kindred seen add crawl.seen --print-new | fetch
  kindred seen add orders.seen orders.parquet --column order_id --numbers
  kindred seen add crawl.seen --fresh results.jsonl.zst --column url

Each line is an id; empty lines are skipped. --print-new prints an id when it is durable: after a crash no id
is printed twice, but ids of the last batch may not have been printed. With --column, standard input is JSONL
and is read to its end first. --fresh empties the set first: give it the results of earlier work to start
from what was really done.)";

constexpr const char* kCheckExamples = R"(
Examples:
  kindred seen check crawl.seen urls.txt
  kindred seen check crawl.seen urls.txt --print-new > not-yet.txt
  kindred seen check orders.seen orders.parquet --column order_id --json

Nothing is added. The check uses the set as it is at the start, even if another process adds to it.)";

struct SeenArguments {
  std::string set;
  IdSourceOptions source;
  std::string on_error = "fail";
  std::optional<std::string> max_memory;
  std::optional<std::string> temp;
  std::uint64_t commit_every = 8'192;
  std::uint64_t expect = 0;
  std::uint64_t recent = 0;
  bool numbers = false;
  bool fresh = false;
  bool print_new = false;
  bool print_seen = false;
  bool json = false;
  bool quiet = false;
};

Status understand(SeenArguments& arguments, SeenOptions& options) {
  if (arguments.max_memory) {
    KIN_TRY(options.max_memory, parse_bytes(*arguments.max_memory));
  }
  if (options.max_memory < store::kSeenLeastMemory)
    return Error{Code::kInvalidArgument,
                 fmt::format("--max-memory {} is too little: a set needs {} at least",
                             *arguments.max_memory, format_bytes(store::kSeenLeastMemory))};
  options.expected_ids = arguments.expect;
  options.table_ids = arguments.recent;
  if (arguments.temp) arguments.source.temporary_folder = *arguments.temp;
  if (arguments.on_error == "skip") arguments.source.on_error = data::OnError::kSkip;
  return Done{};
}

// An existing set knows the kind of its ids; a new one has to be told.
Result<std::unique_ptr<SeenSet>> open_to_add(const SeenArguments& arguments, SeenOptions options) {
  const IdKind wanted = arguments.numbers ? IdKind::kNumber : IdKind::kText;
  if (!arguments.fresh) {
    // Tries to open an existing set first: a set of numbers is used as such without --numbers.
    options.mode = SeenOptions::Mode::kOpen;
    if (arguments.numbers) options.kind = wanted;
    auto set = SeenSet::open(arguments.set, options);
    if (set.ok() || set.error().code != Code::kNotFound) return set;
  }
  options.mode = arguments.fresh ? SeenOptions::Mode::kFresh : SeenOptions::Mode::kOpenOrMake;
  options.kind = wanted;
  return SeenSet::open(arguments.set, options);
}

Result<std::unique_ptr<SeenSet>> open_to_read(const SeenArguments& arguments, SeenOptions options) {
  options.mode = SeenOptions::Mode::kRead;
  options.clock = &system_clock();
  return SeenSet::open(arguments.set, options);
}

std::string progress_text(const IdProgress& progress, const SeenCounts& counts, double seconds) {
  const std::uint64_t ids = counts.fresh + counts.seen;
  std::string line =
      fmt::format("{} ids  {} new  {} ids/s", short_count(ids), short_count(counts.fresh),
                  short_count(static_cast<std::uint64_t>(static_cast<double>(ids) / seconds)));
  line += format_share(static_cast<double>(progress.bytes_done.load()),
                       static_cast<double>(progress.bytes_total), seconds);
  return line + "  " + format_bytes(resident_bytes());
}

struct Passage {
  SeenFilter filter;
  std::unique_ptr<IdSource> source;
};

// Passes all ids of the source through the filter. Gives an exit code if a signal or a closed
// output ended it early.
Result<std::optional<int>> pass_through(Passage& passage, const SeenArguments& arguments,
                                        const StopSignals& signals, const std::atomic<bool>& stop) {
  SeenFilter& filter = passage.filter;
  const Status read = [&] {
    // Ids that scroll by on the same terminal show progress already.
    const bool prints = arguments.print_new || arguments.print_seen;
    const ProgressLine line(
        [&](double seconds) {
          return progress_text(passage.source->progress(), filter.counts(), seconds);
        },
        !arguments.quiet && !arguments.json && !(prints && ::isatty(STDOUT_FILENO) != 0));
    return passage.source->read(stop, [&](const IdBatch& batch) { return filter.take(batch); });
  }();
  // Without a reader there is nobody to print the rest for.
  const Status finished = filter.reader_has_gone() ? Status(Done{}) : filter.finish();
  // As a shell reports a program that was ended by a closed pipe.
  if (filter.reader_has_gone()) return std::optional(128 + SIGPIPE);
  if (!read.ok() && !(read.error().code == Code::kCancelled && signals.exit_code()))
    return read.error();
  if (!finished.ok()) return finished.error();
  return read.ok() ? std::nullopt : signals.exit_code();
}

std::string skipped_words(const Passage& passage) {
  const std::uint64_t skipped = passage.filter.counts().skipped + passage.source->skipped();
  if (skipped == 0) return {};
  return fmt::format("kindred: {} without a usable id {} skipped\n", with_commas(skipped),
                     skipped == 1 ? "was" : "were");
}

// Prints the counts. Standard output is reserved for ids if they are printed.
Status show_counts(const SeenArguments& arguments, const std::string& words,
                   const std::string& json) {
  std::FILE* to = arguments.print_new || arguments.print_seen ? stderr : stdout;
  if (arguments.json) return print(json, to);
  if (arguments.quiet) return Done{};
  return print(words, to);
}

Result<int> run_add(SeenArguments& arguments, const SeenOptions& options) {
  KIN_TRY(auto source, IdSource::open(arguments.source));
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  // After the source: a missing file must not create an empty set.
  KIN_TRY(const auto set, open_to_add(arguments, options));
  Passage passage{
      .filter = SeenFilter(*set, {.name = arguments.set,
                                  .insert = true,
                                  .print = arguments.print_new ? Print::kNew : Print::kNothing,
                                  .commit_every = arguments.commit_every,
                                  .on_error = arguments.source.on_error}),
      .source = std::move(source)};
  KIN_TRY(const auto stopped, pass_through(passage, arguments, signals, stop));
  // A closed set cannot be queried.
  const std::uint64_t held = set->len();
  KIN_RETURN_IF_ERROR(set->close());
  if (stopped == 128 + SIGPIPE) return *stopped;
  const SeenCounts& counts = passage.filter.counts();
  if (!arguments.quiet) say(skipped_words(passage));
  KIN_RETURN_IF_ERROR(
      show_counts(arguments,
                  fmt::format("{} new, {} already there; {} holds {}\n", with_commas(counts.fresh),
                              with_commas(counts.seen), arguments.set, with_commas(held)),
                  fmt::format("{{\"added\": {}, \"already\": {}}}\n", counts.fresh.load(),
                              counts.seen.load())));
  if (!stopped) return kDone;
  say("kindred: stopped; the ids added so far are kept\n");
  return *stopped;
}

Result<int> run_check(SeenArguments& arguments, const SeenOptions& options) {
  KIN_TRY(auto source, IdSource::open(arguments.source));
  KIN_TRY(const auto set, open_to_read(arguments, options));
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  const Print what = arguments.print_new    ? Print::kNew
                     : arguments.print_seen ? Print::kSeen
                                            : Print::kNothing;
  Passage passage{
      .filter = SeenFilter(
          *set, {.name = arguments.set, .print = what, .on_error = arguments.source.on_error}),
      .source = std::move(source)};
  KIN_TRY(const auto stopped, pass_through(passage, arguments, signals, stop));
  if (stopped == 128 + SIGPIPE) return *stopped;
  const SeenCounts& counts = passage.filter.counts();
  if (!arguments.quiet) say(skipped_words(passage));
  KIN_RETURN_IF_ERROR(show_counts(
      arguments,
      fmt::format("{} seen, {} not seen\n", with_commas(counts.seen), with_commas(counts.fresh)),
      fmt::format("{{\"seen\": {}, \"not_seen\": {}}}\n", counts.seen.load(),
                  counts.fresh.load())));
  if (stopped) say("kindred: stopped\n");
  return stopped.value_or(kDone);
}

Result<int> run_stats(SeenArguments& arguments, const SeenOptions& options) {
  KIN_TRY(const auto set, open_to_read(arguments, options));
  const SeenOverview overview{.name = arguments.set, .kind = set->kind(), .stats = set->stats()};
  return print_result(arguments.json ? to_json(overview) + "\n" : to_table(overview));
}

Result<SeenVerified> verify(const SeenArguments& arguments, const SeenOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  KIN_TRY(const auto set, open_to_read(arguments, options));
  KIN_RETURN_IF_ERROR(set->verify());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return SeenVerified{.name = arguments.set, .stats = set->stats(), .seconds = taken.count()};
}

Result<int> run_verify(SeenArguments& arguments, const SeenOptions& options) {
  const Result<SeenVerified> verified = verify(arguments, options);
  if (!verified && verified.error().code == Code::kDataLoss)
    return Error{Code::kDataLoss,
                 fmt::format("{} is damaged: {}\nkindred: restore a copy, or rebuild it from "
                             "earlier results: kindred seen add {} --fresh RESULTS",
                             arguments.set, verified.error().message, arguments.set)};
  if (!verified) return verified.error();
  return print_result(arguments.json ? to_json(*verified) + "\n" : to_words(*verified));
}

void add_set(Verb verb, SeenArguments& arguments) {
  verb.add_option("SET", arguments.set, "The folder of the set").required();
}

void add_memory(Verb verb, SeenArguments& arguments) {
  verb.add_option("--max-memory", arguments.max_memory,
                  "The most memory the set may use (default: 1GiB)")
      .type_name("SIZE");
}

void add_source(Verb verb, SeenArguments& arguments) {
  verb.add_option("FILE", arguments.source.files,
                  "Files with one id per line (also .gz .zst); - or none for standard input");
  verb.add_option(
          "--column", arguments.source.column,
          "FILEs are datasets or globs of them (.jsonl .csv .tsv, also .gz .zst; .parquet): "
          "the column that holds the ids")
      .type_name("COLUMN");
  with_choice(verb.add_option("--on-error", arguments.on_error,
                              "What to do with a record that has no usable id: fail or skip")
                  .type_name("fail|skip"),
              {"fail", "skip"});
  verb.add_option("--temp", arguments.temp, "Folder for temporary files of --column")
      .type_name("DIR");
}

void add_output(Verb verb, SeenArguments& arguments) {
  verb.add_flag("--json", arguments.json, "Print the counts as JSON");
  verb.add_flag("--quiet", arguments.quiet, "Print no counts");
}

Verb add_add(Verb seen, SeenArguments& arguments) {
  const Verb verb = seen.add_subcommand("add", "Add ids to a set and count the new ones");
  verb.footer(kAddExamples);
  add_set(verb, arguments);
  add_source(verb, arguments);
  verb.add_flag("--print-new", arguments.print_new,
                "Print the ids that are new, as soon as they are durable; the counts then go to "
                "standard error");
  verb.add_flag("--numbers", arguments.numbers,
                "A new set holds whole numbers of 64 bits (default: texts, as hashes of 128 "
                "bits)");
  verb.add_flag("--fresh", arguments.fresh, "Empty the set first");
  with_count(verb.add_option("--commit-every", arguments.commit_every, "Most ids between commits"),
             1, 100'000'000);
  add_memory(verb, arguments);
  verb.add_option("--expect", arguments.expect,
                  "Number of ids the set will hold; a hint, not a limit")
      .type_name("N")
      .check(whole_number(0));
  verb.add_option("--recent", arguments.recent,
                  "Ids to hold in memory before they are written out as a run (default: what "
                  "--max-memory allows)")
      .type_name("N")
      .check(whole_number(0));
  add_output(verb, arguments);
  return verb;
}

Verb add_check(Verb seen, SeenArguments& arguments) {
  const Verb verb = seen.add_subcommand("check", "Count how many ids are in a set, without adding any");
  verb.footer(kCheckExamples);
  add_set(verb, arguments);
  add_source(verb, arguments);
  const Option print_new =
      verb.add_flag("--print-new", arguments.print_new,
                    "Print the ids that are not in the set; the counts then go to standard error");
  verb.add_flag("--print-seen", arguments.print_seen, "Print the ids that are in the set")
      .excludes(print_new);
  add_memory(verb, arguments);
  add_output(verb, arguments);
  return verb;
}

Verb add_stats(Verb seen, SeenArguments& arguments) {
  const Verb verb = seen.add_subcommand("stats", "Show the size and state of a set");
  verb.footer(
      "\nExamples:\n  kindred seen stats crawl.seen\n  kindred seen stats crawl.seen --json");
  add_set(verb, arguments);
  add_memory(verb, arguments);
  verb.add_flag("--json", arguments.json, "Print everything as JSON");
  return verb;
}

Verb add_verify(Verb seen, SeenArguments& arguments) {
  const Verb verb =
      seen.add_subcommand("verify", "Read a whole set and check its checksums, order and counts");
  verb.footer(
      "\nExamples:\n  kindred seen verify crawl.seen\n\nPrints the damaged file, and "
      "exits with code 1, if there is one.");
  add_set(verb, arguments);
  add_memory(verb, arguments);
  verb.add_flag("--json", arguments.json, "Print what was read as JSON");
  return verb;
}

using Runner = Result<int> (*)(SeenArguments& arguments, const SeenOptions& options);

Command command_of(Verb verb, const std::shared_ptr<SeenArguments>& arguments, Runner run) {
  return {verb, [=]() -> Result<int> {
            SeenOptions options;
            if (const Status understood = understand(*arguments, options); !understood.ok())
              return wrong_usage(understood.error(), verb);
            return run(*arguments, options);
          }};
}

}  // namespace

Command add_seen_command(Verb app) {
  const Verb verb = app.add_subcommand(
      "seen", "Have I had this id before? A set of ids on disk, exact, kept across runs");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<SeenArguments>();
  return with_verbs(verb, {command_of(add_add(verb, *arguments), arguments, run_add),
                           command_of(add_check(verb, *arguments), arguments, run_check),
                           command_of(add_stats(verb, *arguments), arguments, run_stats),
                           command_of(add_verify(verb, *arguments), arguments, run_verify)});
}

}  // namespace kin::app
