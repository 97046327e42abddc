// Flags of verbs that use feeds, and how the verbs open them.
#pragma once

#include <memory>
#include <string>

#include "app/options.h"
#include "base/result.h"
#include "stories/newsroom.h"

namespace kin::app {

struct NewsroomFlags {
  std::string data{};
  bool allow_private = false;
};

// --data.
void add_data_flag(Verb verb, NewsroomFlags& flags);
// --allow-private, for verbs that fetch.
void add_address_flag(Verb verb, NewsroomFlags& flags);

Result<std::unique_ptr<stories::Newsroom>> open_newsroom(const NewsroomFlags& flags);
// Read-only; works while another process writes.
Result<std::unique_ptr<stories::Newsroom>> open_newsroom_to_read(const NewsroomFlags& flags);

// Finds a feed by its number, address or name. kNotFound.
Result<stories::FollowedFeed> find_feed(const stories::Newsroom& room, const std::string& text);

// `error`, with a hint at --allow-private if that option would help.
Error with_address_hint(Error error);

}  // namespace kin::app
