#include <fmt/format.h>

#include <thread>

#include "app/command.h"
#include "app/options.h"
#include "app/print.h"
#include "app/stories/grouping_flags.h"
#include "app/stories/newsroom_flags.h"
#include "app/words.h"
#include "base/file.h"
#include "stories/news_json.h"

namespace kin::app {
namespace {

using stories::FollowedFeed;
using stories::Newsroom;

constexpr const char* kExamples = R"(
Examples:
  kindred feeds add https://example.org/feed.xml --folder Tech
  kindred feeds add example.org
  kindred feeds import subscriptions.opml
  kindred feeds refresh
  kindred feeds list
  kindred feeds remove 7
  kindred feeds export > subscriptions.opml
  kindred feeds settings --prefer 'The Circuit'
  kindred stories

Feeds and their stories are kept in one folder, which one process can change at a time. While `kindred serve`
runs, it polls the feeds itself; verbs that only read still work.)";

constexpr const char* kAddExamples = R"(
Examples:
  kindred feeds add https://example.org/feed.xml --folder Tech/Apple
  kindred feeds add example.org --title 'An example'
  kindred feeds add https://example.org/private.xml --user ann --password-file password.txt

ADDRESS is that of a feed (RSS, Atom, JSON Feed), or of a site that has one. The password or token is the
first line of its file. It is stored with the feeds, readable by you only, and never shown.)";

constexpr const char* kRefreshExamples = R"(
Examples:
  kindred feeds refresh
  kindred feeds refresh --all
  kindred feeds refresh 7 'An example'
  kindred feeds refresh --json | jq -c .changed

Polls the feeds that are due, the named feeds, or all. With --json each change is printed as a line when it
is durable, as in docs/api.md under Events; the last line has the counts.)";

constexpr const char* kSettingsExamples = R"(
Examples:
  kindred feeds settings
  kindred feeds settings --window 48 --threshold 0.2
  kindred feeds settings --prefer 'The Circuit' --prefer herald.example
  kindred feeds settings --prefer '' --many-per-source

Without options it prints the settings. Options are stored and apply to items that arrive later. A preferred source is named by the feed's name, address or host.)";

struct FeedsArguments {
  NewsroomFlags place;
  GroupingFlags grouping;
  stories::NewFeed feed;
  std::string user;
  std::string password_file;
  std::string token_file;
  bool no_grouping = false;
  std::vector<std::string> names;
  std::string file;
  bool all = false;
  bool remove_starred = false;
  bool json = false;
};

Result<std::string> first_line(const std::string& path) {
  KIN_TRY(const std::string text, read_file(path));
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (!line.empty()) return line;
  return Error{Code::kInvalidArgument,
               path + " is empty: it should hold a secret on its first line"};
}

Result<net::Credentials> credentials(const FeedsArguments& arguments) {
  if (!arguments.token_file.empty()) {
    KIN_TRY(const std::string token, first_line(arguments.token_file));
    return net::Credentials{net::Credentials::Kind::kBearer, {}, token};
  }
  if (arguments.user.empty()) return net::Credentials{};
  KIN_TRY(const std::string password, first_line(arguments.password_file));
  return net::Credentials{net::Credentials::Kind::kBasic, arguments.user, password};
}

Result<int> run_add(FeedsArguments& arguments) {
  arguments.feed.grouped = !arguments.no_grouping;
  KIN_TRY(arguments.feed.credentials, credentials(arguments));
  KIN_TRY(const auto room, open_newsroom(arguments.place));
  const auto feed = room->add_feed(arguments.feed);
  if (!feed.ok()) return with_address_hint(feed.error());
  return print_result(fmt::format("{} added as feed {} with {}\n", feed->title, number(feed->id),
                                  counted(feed->items, "item")));
}

std::string feeds_json(const std::vector<FollowedFeed>& feeds) {
  JsonWriter json(2);
  stories::write_feeds(json, feeds);
  return json.take() + "\n";
}

std::string feeds_table(const std::vector<FollowedFeed>& feeds) {
  std::string table;
  std::string folder;
  for (const FollowedFeed& feed : feeds) {
    if (feed.folder != folder) table += (table.empty() ? "" : "\n") + feed.folder + "\n";
    folder = feed.folder;
    table +=
        fmt::format("{:>5}  {:>6} unread of {:<7}{}\n{:>7}{}\n", number(feed.id),
                    with_commas(feed.unread), with_commas(feed.items), feed.title, "", feed.url);
    if (!feed.problem.empty()) table += fmt::format("{:>7}! {}\n", "", feed.problem);
  }
  return table.empty() ? "no feeds yet (kindred feeds add ADDRESS)\n" : table;
}

Result<int> run_list(const FeedsArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom_to_read(arguments.place));
  KIN_TRY(const std::vector<FollowedFeed> feeds, room->feeds());
  return print_result(arguments.json ? feeds_json(feeds) : feeds_table(feeds));
}

Result<int> run_remove(const FeedsArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom(arguments.place));
  // All names are looked up before anything is removed.
  std::vector<FollowedFeed> feeds;
  for (const std::string& name : arguments.names) {
    KIN_TRY(FollowedFeed feed, find_feed(*room, name));
    feeds.push_back(std::move(feed));
  }
  for (const FollowedFeed& feed : feeds) {
    const bool keep = feed.starred > 0 && !arguments.remove_starred;
    KIN_RETURN_IF_ERROR(room->remove_feed(
        feed.id, keep ? stories::StarredItems::kKeep : stories::StarredItems::kRemove));
    const std::string kept =
        keep ? fmt::format("; its items in starred stories ({}) are kept", feed.starred) : "";
    KIN_RETURN_IF_ERROR(print(
        fmt::format("{} removed, with {}{}\n", feed.title, counted(feed.items, "item"), kept)));
  }
  return kDone;
}

std::string event_json(const stories::NewsEvent& event) {
  JsonWriter json;
  stories::write_event(json, event);
  return json.take() + "\n";
}

// The feeds to poll; an empty list stands for all that are due.
Result<std::vector<stories::FeedId>> named_feeds(const Newsroom& room,
                                                 const FeedsArguments& arguments) {
  std::vector<stories::FeedId> ids;
  for (const std::string& name : arguments.names) {
    KIN_TRY(const FollowedFeed feed, find_feed(room, name));
    ids.push_back(feed.id);
  }
  if (!arguments.all) return ids;
  KIN_TRY(const std::vector<FollowedFeed> feeds, room.feeds());
  for (const FollowedFeed& feed : feeds) {
    // The server reported that the feed is gone for good.
    if (!feed.gone) ids.push_back(feed.id);
  }
  return ids;
}

Status show_refresh(const Newsroom& room, const Newsroom::Refresh& refresh, bool json) {
  if (json)
    return print(JsonWriter()
                     .begin_object()
                     .field("polled", refresh.polled)
                     .field("failed", refresh.failed)
                     .field("items", refresh.items)
                     .end()
                     .take() +
                 "\n");
  KIN_RETURN_IF_ERROR(
      print(fmt::format("{} polled, {} failed, {}\n", counted(refresh.polled, "feed"),
                        with_commas(refresh.failed), counted(refresh.items, "new item"))));
  if (refresh.failed == 0) return Done{};
  KIN_TRY(const std::vector<FollowedFeed> feeds, room.feeds());
  for (const FollowedFeed& feed : feeds) {
    if (feed.problem.empty()) continue;
    const Error problem = with_address_hint({Code::kFailedPrecondition, feed.problem});
    say(fmt::format("kindred: feed {}: {}\n", number(feed.id), problem.message));
  }
  return Done{};
}

Result<int> run_refresh(const FeedsArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom(arguments.place));
  KIN_TRY(const auto ids, named_feeds(*room, arguments));
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  // Fetches block, and a signal handler must not cancel them itself.
  const std::jthread watcher([&](const std::stop_token& ended) {
    while (!ended.stop_requested() && !stop)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (stop) room->cancel();
  });
  // A listener cannot return an error, so its error is kept until the end.
  std::optional<Error> unprinted;
  const auto listener = room->listen([&](const stories::NewsEvent& event) {
    if (!arguments.json || unprinted) return;
    if (const Status printed = print(event_json(event)); !printed.ok()) unprinted = printed.error();
  });
  // --all without any feeds polls none, and not those that are due.
  const auto refresh = ids.empty() && !arguments.all ? room->refresh_due() : room->refresh(ids);
  room->stop_listening(listener);
  if (!refresh.ok()) return unfinished(refresh.error(), signals);
  if (unprinted) return *unprinted;
  KIN_TRY(const std::uint64_t swept, room->sweep());
  // A refresh does not report the number of removed items.
  (void)swept;
  KIN_RETURN_IF_ERROR(show_refresh(*room, *refresh, arguments.json));
  if (const auto code = signals.exit_code()) {
    say("kindred: stopped; the items fetched so far are kept\n");
    return *code;
  }
  return kDone;
}

Result<int> run_import(const FeedsArguments& arguments) {
  KIN_TRY(const std::string bytes, read_file(arguments.file));
  KIN_TRY(const auto room, open_newsroom(arguments.place));
  const auto import = room->import_opml(bytes);
  if (!import.ok()) return with_context(arguments.file, import.error());
  return print_result(fmt::format(
      "{} added, {} already followed, {} left out; poll them with: kindred feeds refresh\n",
      counted(import->added, "feed"), with_commas(import->already), with_commas(import->left_out)));
}

Result<int> run_export(const FeedsArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom_to_read(arguments.place));
  KIN_TRY(const std::string opml, room->export_opml());
  if (arguments.file.empty() || arguments.file == "-") {
    KIN_RETURN_IF_ERROR(print(opml));
  } else {
    KIN_RETURN_IF_ERROR(write_file_atomically(arguments.file, opml));
  }
  return kDone;
}

Result<int> run_check(const FeedsArguments& arguments) {
  KIN_TRY(const auto room, open_newsroom_to_read(arguments.place));
  KIN_TRY(const std::vector<std::string> problems, room->check());
  if (problems.empty()) {
    KIN_TRY(const auto feeds, room->feeds());
    return print_result(
        fmt::format("{} checked, no problems found\n", counted(feeds.size(), "feed")));
  }
  for (const std::string& problem : problems) KIN_RETURN_IF_ERROR(print(problem + "\n"));
  return Error{
      Code::kDataLoss,
      "the database is inconsistent: restore a backup, or export the feeds and import them into "
      "another --data folder"};
}

std::string settings_json(const stories::Settings& settings) {
  JsonWriter json(2);
  json.begin_object().field("window_hours", settings.window.count());
  json.field("fading_hours", settings.fading.count());
  json.field("dial", settings.dial);
  json.field("threshold", settings.join_threshold);
  json.field("merge_threshold", settings.merge_threshold);
  json.field("copy_threshold", settings.copy_threshold);
  json.field("one_per_source", settings.one_per_source);
  json.key("preferred_sources").begin_array();
  for (const std::string& source : settings.preferred_sources) json.value(source);
  return json.end().end().take() + "\n";
}

std::string settings_table(const stories::Settings& settings) {
  std::string text;
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<18}{}\n", name, value);
  };
  row("window", fmt::format("{} hours", settings.window.count()));
  row("fading", fmt::format("{} hours", settings.fading.count()));
  row("dial", fmt::format("{}", settings.dial));
  row("threshold", fmt::format("{}", settings.join_threshold));
  row("merge threshold", fmt::format("{}", settings.merge_threshold));
  row("copy threshold", fmt::format("{}", settings.copy_threshold));
  row("one per source", settings.one_per_source ? "yes" : "no");
  row("preferred", settings.preferred_sources.empty()
                       ? "none: a story shows its newest good headline"
                       : fmt::format("{}", fmt::join(settings.preferred_sources, ", ")));
  return text;
}

Result<int> run_settings(const FeedsArguments& arguments, Verb verb) {
  // Reading works while `kindred serve` has the folder open.
  KIN_TRY(const auto looking, open_newsroom_to_read(arguments.place));
  KIN_TRY(stories::Settings settings, looking->settings());
  const stories::Settings wanted = with_flags(settings, arguments.grouping, verb);
  if (wanted != settings) {
    KIN_TRY(const auto room, open_newsroom(arguments.place));
    KIN_RETURN_IF_ERROR(room->change_settings(wanted));
    settings = wanted;
  }
  return print_result(arguments.json ? settings_json(settings) : settings_table(settings));
}

Verb add_add(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("add", "Follow a feed");
  verb.footer(kAddExamples);
  verb.add_option("ADDRESS", arguments.feed.url, "Address of a feed, or of a site that has one")
      .required();
  verb.add_option("--folder", arguments.feed.folder,
                  "Folder of the feed; levels are separated by /")
      .type_name("NAME");
  verb.add_option("--title", arguments.feed.title, "Title to show instead of the feed's own")
      .type_name("NAME");
  const Option user = verb.add_option("--user", arguments.user, "User name, for a feed that needs one")
                    .type_name("NAME");
  const Option password =
      verb.add_option("--password-file", arguments.password_file, "File with the user's password")
          .type_name("FILE")
          .needs(user);
  user.needs(password);
  verb.add_option("--token-file", arguments.token_file, "File with a bearer token")
      .type_name("FILE")
      .excludes(user);
  verb.add_flag("--no-grouping", arguments.no_grouping, "Show each item as a story of its own");
  add_address_flag(verb, arguments.place);
  return verb;
}

Verb add_refresh(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("refresh", "Poll feeds for news");
  verb.footer(kRefreshExamples);
  const Option names = verb.add_option("FEED", arguments.names,
                                 "Numbers, addresses or names (default: those that are due)");
  verb.add_flag("--all", arguments.all, "All feeds, due or not").excludes(names);
  verb.add_flag("--json", arguments.json, "Print each change as a line of JSON");
  add_address_flag(verb, arguments.place);
  return verb;
}

Verb add_list(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("list", "List the feeds that are followed");
  verb.footer("\nExamples:\n  kindred feeds list\n  kindred feeds list --json | jq '.feeds[].url'");
  verb.add_flag("--json", arguments.json, "Print JSON, as in docs/api.md");
  return verb;
}

Verb add_remove(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("remove", "Remove feeds with their items");
  verb.footer(
      "\nExamples:\n  kindred feeds remove 7\n  kindred feeds remove https://example.org/feed.xml");
  verb.add_option("FEED", arguments.names, "Numbers, addresses or names").required();
  verb.add_flag("--starred", arguments.remove_starred,
                "Remove its items from starred stories too (default: these are kept)");
  return verb;
}

Verb add_import(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("import", "Follow the feeds of an OPML file");
  verb.footer("\nExamples:\n  kindred feeds import subscriptions.opml && kindred feeds refresh");
  verb.add_option("FILE", arguments.file, "OPML file that another reader exported").required();
  return verb;
}

Verb add_export(Verb feeds, FeedsArguments& arguments) {
  const Verb verb = feeds.add_subcommand("export", "Write the subscriptions as OPML");
  verb.footer(
      "\nExamples:\n  kindred feeds export subscriptions.opml\n  kindred feeds export > "
      "subscriptions.opml");
  verb.add_option("FILE", arguments.file, "File to write (default: standard output)");
  return verb;
}

Command add_settings(Verb feeds, const std::shared_ptr<FeedsArguments>& arguments) {
  const Verb verb = feeds.add_subcommand("settings", "Show or change how items are grouped into stories");
  verb.footer(kSettingsExamples);
  add_grouping_flags(verb, arguments->grouping);
  verb.add_flag("--json", arguments->json, "Print JSON");
  return {verb, [=] { return run_settings(*arguments, verb); }};
}

}  // namespace

Command add_feeds_command(Verb app) {
  const Verb verb = app.add_subcommand("feeds", "Follow feeds: add, refresh, import, export");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<FeedsArguments>();
  const std::vector<Command> inner{
      {add_add(verb, *arguments), [=] { return run_add(*arguments); }},
      {add_list(verb, *arguments), [=] { return run_list(*arguments); }},
      {add_remove(verb, *arguments), [=] { return run_remove(*arguments); }},
      {add_refresh(verb, *arguments), [=] { return run_refresh(*arguments); }},
      {add_import(verb, *arguments), [=] { return run_import(*arguments); }},
      {add_export(verb, *arguments), [=] { return run_export(*arguments); }},
      add_settings(verb, arguments),
      {verb.add_subcommand("check", "Check the database"), [=] { return run_check(*arguments); }}};
  for (const Command& command : inner) add_data_flag(command.verb, arguments->place);
  return with_verbs(verb, inner);
}

}  // namespace kin::app
