#include "server/api/story_json.h"

namespace kin::server {
namespace {

// More stories than a page shows: asking for everything again is cheaper for everybody.
constexpr std::size_t kMostInEvent = 1'000;

void write_time(JsonWriter& json, std::string_view name, const std::optional<stories::Time>& time) {
  json.key(name);
  if (time) {
    json.value(stories::format_date(*time));
  } else {
    json.null();
  }
}

void write_entry(JsonWriter& json, const stories::Entry& entry) {
  json.begin_object().field("id", number(entry.id)).field("feed", number(entry.feed));
  json.field("title", entry.title).field("url", entry.url).field("summary", entry.summary);
  json.field("author", entry.author);
  write_time(json, "published", entry.published);
  json.field("similarity", entry.similarity).field("why", stories::name_of(entry.tier)).end();
}

void write_id_or_null(JsonWriter& json, std::string_view name, stories::StoryId id) {
  json.key(name);
  if (id == stories::kNoStory) {
    json.null();
  } else {
    json.value(number(id));
  }
}

}  // namespace

void write_feed(JsonWriter& json, const stories::FollowedFeed& feed) {
  json.begin_object().field("id", number(feed.id)).field("url", feed.url);
  json.field("title", feed.title).field("site", feed.site).field("folder", feed.folder);
  json.field("grouped", feed.grouped).field("has_icon", feed.has_icon).field("gone", feed.gone);
  write_time(json, "polled", feed.polled);
  write_time(json, "next_poll", feed.next_poll);
  json.field("problem", feed.problem).field("items", feed.items).field("unread", feed.unread).end();
}

void write_story(JsonWriter& json, const stories::StoryView& story) {
  json.begin_object().field("id", number(story.id)).field("count", story.count);
  json.field("sources", story.sources);
  write_time(json, "first", story.first);
  write_time(json, "last", story.last);
  json.field("read", story.read).field("starred", story.starred).field("hidden", story.hidden);
  write_id_or_null(json, "repeats", story.repeats.value_or(stories::kNoStory));
  json.key("representative");
  write_entry(json, story.representative);
  json.key("others").begin_array();
  for (const stories::Entry& entry : story.others) write_entry(json, entry);
  json.end().end();
}

std::string timeline_json(const stories::TimelinePage& page) {
  JsonWriter json;
  json.begin_object().key("stories").begin_array();
  for (const stories::StoryView& story : page.stories) write_story(json, story);
  json.end().key("next");
  if (page.next.empty()) {
    json.null();
  } else {
    json.value(page.next);
  }
  return json.field("unread", page.unread).end().take();
}

std::string news_json(const stories::NewsEvent& event) {
  if (event.changed.size() + event.gone.size() > kMostInEvent) return {};
  JsonWriter json;
  json.begin_object().key("changed").begin_array();
  for (const stories::StoryId id : event.changed) json.value(number(id));
  json.end().key("gone").begin_array();
  for (const auto& gone : event.gone) {
    json.begin_object().field("story", number(gone.story));
    write_id_or_null(json, "into", gone.into);
    json.end();
  }
  json.end().key("feeds").begin_array();
  for (const stories::FeedId id : event.feeds) json.value(number(id));
  return json.end().end().take();
}

}  // namespace kin::server
