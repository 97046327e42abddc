#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>

#include "app/checks.h"
#include "app/command.h"
#include "app/data_folder.h"
#include "app/headlines.h"
#include "app/meaning.h"
#include "app/options.h"
#include "app/print.h"
#include "app/stories/grouping_flags.h"
#include "app/stories/newsroom_flags.h"
#include "app/stories/timeline_print.h"
#include "app/words.h"
#include "base/json_writer.h"
#include "stories/agreement.h"
#include "stories/group_all.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred stories group headlines.jsonl -o stories.jsonl
  kindred stories group news.csv --id guid --title headline --time date
  kindred stories group headlines.parquet --prefer Reuters --prefer 'BBC News' -o stories.parquet
  kindred stories group labelled.jsonl --eval story --json

Each record needs an id, a title and a time (seconds since 1970, or ISO 8601); source, url and summary
are used where there are columns of these names. Records are grouped in order of time, each against
earlier ones. The output has the columns id, story_id, is_representative and similarity, in the order of
the input; without -o it is JSONL on standard output.)";

constexpr const char* kTimelineExamples = R"(
Examples:
  kindred stories
  kindred stories --unread --folder Tech --limit 50
  kindred stories --search 'ferry chan' --expand
  kindred stories --feed 7 --json
  kindred stories group headlines.jsonl -o stories.jsonl

Without a verb it prints the timeline: each story once, with its other sources below it, the story with the
newest item first. `kindred feeds` manages the feeds; `kindred serve` shows the timeline as a page.)";

struct TimelineArguments {
  NewsroomFlags place;
  stories::TimelineQuery query;
  std::string feed;
  bool expand = false;
  bool json = false;
};

struct GroupArguments {
  std::vector<std::string> inputs;
  std::string output;
  HeadlineColumns columns;
  std::string eval;
  GroupingFlags grouping;
  std::string meaning = kDefaultMeaning;
  bool json = false;
};

struct GroupReport {
  std::size_t headlines = 0;
  std::size_t stories = 0;
  std::size_t largest = 0;
  std::size_t single = 0;  // stories of one headline
  double seconds = 0;      // of grouping alone
  std::optional<stories::AgreementFigures> agreement;
};

void add_columns(Verb verb, GroupArguments& arguments) {
  const auto column = [&](const char* flag, std::string& name, const char* help) {
    verb.add_option(flag, name, help).type_name("COLUMN").capture_default_str();
  };
  column("--id", arguments.columns.id, "Column that holds the id");
  column("--title", arguments.columns.title, "Column that holds the headline");
  column("--time", arguments.columns.time, "Column that holds the time of publication");
  column("--source", arguments.columns.source, "Column that holds the publication");
  column("--url", arguments.columns.url, "Column that holds the address");
  column("--summary", arguments.columns.summary, "Column that holds the summary");
  column("--eval", arguments.eval,
         "Compare with the true stories in this column: BCubed and pairwise precision, recall, F1");
}

Verb add_group(Verb stories, GroupArguments& arguments) {
  const Verb verb = stories.add_subcommand("group", "Group a file of headlines into stories");
  verb.footer(kExamples);
  verb.add_option("FILE", arguments.inputs,
                  "Headlines: JSONL, CSV or Parquet files, globs, or - for JSONL")
      .required();
  verb.add_option("-o,--output", arguments.output,
                  "File to write the stories to, in the format of its extension")
      .type_name("OUT");
  add_columns(verb, arguments);
  add_grouping_flags(verb, arguments.grouping);
  verb.add_option(
          "--meaning", arguments.meaning,
          "Word vectors that tell which headlines mean the same: none, words, words:FILE or "
          "model2vec:DIR")
      .type_name("MODEL")
      .capture_default_str();
  verb.add_flag("--json", arguments.json, "Print a report as JSON instead of the stories");
  return verb;
}

GroupReport report_on(const std::vector<stories::Placement>& placements, double seconds) {
  std::map<stories::StoryId, std::size_t> sizes;
  for (const stories::Placement& placement : placements) ++sizes[placement.story];
  GroupReport report{.headlines = placements.size(),
                     .stories = sizes.size(),
                     .largest = 0,
                     .single = 0,
                     .seconds = seconds,
                     .agreement = {}};
  for (const auto& [story, size] : sizes) {
    report.largest = std::max(report.largest, size);
    report.single += size == 1 ? 1 : 0;
  }
  return report;
}

std::string report_json(const GroupReport& report) {
  JsonWriter json(2);
  json.begin_object().field("headlines", report.headlines).field("stories", report.stories);
  json.field("single_headline_stories", report.single).field("largest_story", report.largest);
  json.field("seconds", report.seconds);
  json.field(
      "microseconds_per_headline",
      1e6 * report.seconds / static_cast<double>(std::max<std::size_t>(report.headlines, 1)));
  if (report.agreement) write_agreement(json, *report.agreement);
  return json.end().take() + "\n";
}

std::string agreement_table(const stories::AgreementFigures& figures) {
  const auto row = [](const char* name, const stories::Agreement& agreement) {
    return fmt::format("  {:<12}{:>10.4f}{:>10.4f}{:>10.4f}\n", name, agreement.precision,
                       agreement.recall, agreement.f1());
  };
  return fmt::format("{} headlines, {} stories found, {} true\n\n  {:<12}{:>10}{:>10}{:>10}\n",
                     with_commas(figures.items), with_commas(figures.groups),
                     with_commas(figures.true_groups), "", "precision", "recall", "F1") +
         row("BCubed", figures.bcubed) + row("pairwise", figures.pairwise);
}

std::string summary(const GroupReport& report) {
  return fmt::format("{} headlines are {} stories; the largest has {}, {} have one\n",
                     with_commas(report.headlines), with_commas(report.stories),
                     with_commas(report.largest), with_commas(report.single));
}

Result<int> run_group(GroupArguments arguments, Verb verb) {
  const stories::Settings settings = with_flags({}, arguments.grouping, verb);
  arguments.columns.label = arguments.eval;
  KIN_TRY(const Headlines headlines, read_headlines(arguments.inputs, arguments.columns));
  // A machine without a home still has the models beside the program.
  const auto data = data_folder("");
  KIN_TRY(const auto model, open_meaning(arguments.meaning, data.ok() ? *data : ""));
  const auto start = std::chrono::steady_clock::now();
  KIN_TRY(const auto placements, stories::group_all(headlines.items, settings, model));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  GroupReport report = report_on(placements, seconds.count());
  if (!arguments.eval.empty()) report.agreement = agreement_of(placements, headlines.labels);
  // --json and --eval print figures, which rows would bury.
  const bool rows_to_stdout = arguments.output.empty() && !arguments.json && arguments.eval.empty();
  if (rows_to_stdout || !arguments.output.empty())
    KIN_RETURN_IF_ERROR(write_placements(headlines, placements, arguments.output));
  if (arguments.json) {
    KIN_RETURN_IF_ERROR(print(report_json(report)));
  } else if (report.agreement) {
    KIN_RETURN_IF_ERROR(print(agreement_table(*report.agreement)));
  } else {
    say(summary(report));
  }
  return kDone;
}

void add_timeline(Verb verb, TimelineArguments& arguments) {
  stories::TimelineQuery& query = arguments.query;
  // About a screenful. The API has a default of its own.
  query.limit = 20;
  with_count(verb.add_option("--limit", query.limit, "How many stories"), 1, 200);
  verb.add_option("--before", query.before, "Go on below a page: `next` of its --json")
      .type_name("PLACE");
  verb.add_flag("--unread", query.unread_only, "Only what is not read");
  verb.add_flag("--starred", query.starred_only, "Only what has a star");
  verb.add_flag("--hidden", query.hidden_only, "Only what is hidden");
  verb.add_option("--feed", arguments.feed, "Only stories of this feed: number, address or name")
      .type_name("FEED");
  verb.add_option("--folder", query.folder, "Only stories of this folder's feeds")
      .type_name("NAME");
  verb.add_option("--search", query.text, "Only stories with these words; the last may go on")
      .type_name("WORDS");
  verb.add_flag("--expand", arguments.expand, "With the other headlines and the addresses");
  verb.add_flag("--json", arguments.json, "As JSON, as in docs/api.md");
  add_data_flag(verb, arguments.place);
}

Result<int> run_timeline(TimelineArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom_to_read(arguments.place));
  if (!arguments.feed.empty()) {
    KIN_TRY(const stories::FollowedFeed feed, find_feed(*room, arguments.feed));
    arguments.query.feed = feed.id;
  }
  KIN_TRY(const stories::TimelinePage page, room->timeline(arguments.query));
  if (arguments.json) {
    return print_result(timeline_json(page));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  KIN_RETURN_IF_ERROR(print(
      timeline_text(page, {.now = now, .expand = arguments.expand, .colour = wants_colours()})));
  if (page.stories.empty()) say("no stories here (kindred feeds refresh looks for news)\n");
  return kDone;
}

}  // namespace

Command add_stories_command(Verb app) {
  const Verb verb =
      app.add_subcommand("stories", "Show the timeline, each story once; group files of headlines");
  verb.footer(kTimelineExamples);
  verb.require_subcommand(0, 1);
  const auto timeline = std::make_shared<TimelineArguments>();
  add_timeline(verb, *timeline);
  const auto arguments = std::make_shared<GroupArguments>();
  const Verb group = add_group(verb, *arguments);
  return {verb, [=]() -> Result<int> {
            return group.parsed() ? run_group(*arguments, group) : run_timeline(*timeline);
          }};
}

}  // namespace kin::app
