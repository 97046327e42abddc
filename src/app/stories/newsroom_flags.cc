#include "app/stories/newsroom_flags.h"

#include <fmt/format.h>

#include <random>

#include "app/data_folder.h"
#include "app/meaning.h"
#include "app/options.h"
#include "app/search/index_flags.h"

namespace kin::app {

void add_data_flag(Verb verb, NewsroomFlags& flags) {
  add_data_flag(verb, flags.data);
}

void add_address_flag(Verb verb, NewsroomFlags& flags) {
  verb.add_flag("--allow-private", flags.allow_private,
                "Allow connections to private networks and this machine");
}

Result<std::unique_ptr<stories::Newsroom>> open_newsroom(const NewsroomFlags& flags) {
  KIN_TRY(const std::filesystem::path folder, data_folder(flags.data));
  stories::NewsOptions options;
  options.http.addresses.allow_all = flags.allow_private;
  // Spreads the polls of many installations.
  options.seed = std::random_device()();
  KIN_TRY(options.model, open_meaning(kDefaultMeaning, folder));
  return stories::Newsroom::open(folder, system_clock(), std::move(options));
}

Result<std::unique_ptr<stories::Newsroom>> open_newsroom_to_read(const NewsroomFlags& flags) {
  KIN_TRY(const std::filesystem::path folder, data_folder(flags.data));
  auto room = stories::Newsroom::open_for_reading(folder);
  if (room.ok() || room.error().code != Code::kNotFound) return room;
  return Error{
      Code::kNotFound,
      fmt::format("{} has no feeds yet (kindred feeds add ADDRESS, or kindred feeds import "
                  "FILE)",
                  folder.string())};
}

Result<stories::FollowedFeed> find_feed(const stories::Newsroom& room, const std::string& text) {
  KIN_TRY(const std::vector<stories::FollowedFeed> feeds, room.feeds());
  for (const auto& feed : feeds) {
    // Numbers and addresses first: a title may look like one.
    if (std::to_string(number(feed.id)) == text || feed.url == text) return feed;
  }
  for (const auto& feed : feeds) {
    if (feed.title == text) return feed;
  }
  return Error{Code::kNotFound,
               fmt::format("no feed is called \"{}\" (`kindred feeds list` has their numbers, "
                           "addresses and names)",
                           text)};
}

Error with_address_hint(Error error) {
  // The HTTP client refuses the address, and knows nothing about options.
  if (error.code == Code::kFailedPrecondition &&
      error.message.find("must not be connected to") != std::string::npos)
    error.message += " (--allow-private permits it)";
  return error;
}

}  // namespace kin::app
