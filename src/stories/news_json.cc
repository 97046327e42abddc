#include "stories/news_json.h"

namespace kin::stories {
namespace {

void write_time(JsonWriter& json, std::string_view name, const std::optional<Time>& time) {
  json.key(name);
  if (time) {
    json.value(format_date(*time));
  } else {
    json.null();
  }
}

void write_item(JsonWriter& json, const ItemView& item) {
  json.begin_object().field("id", number(item.id)).field("feed", number(item.feed));
  json.field("title", item.title).field("url", item.url).field("summary", item.summary);
  json.field("author", item.author);
  write_time(json, "published", item.published);
  json.field("similarity", item.similarity).field("why", name_of(item.tier)).end();
}

void write_id_or_null(JsonWriter& json, std::string_view name, StoryId id) {
  json.key(name);
  if (id == kNoStory) {
    json.null();
  } else {
    json.value(number(id));
  }
}

template <typename Ids>
void write_ids(JsonWriter& json, std::string_view name, const Ids& ids) {
  json.key(name).begin_array();
  for (const auto id : ids) json.value(number(id));
  json.end();
}

}  // namespace

void write_feed(JsonWriter& json, const FollowedFeed& feed) {
  json.begin_object().field("id", number(feed.id)).field("url", feed.url);
  json.field("title", feed.title).field("site", feed.site).field("folder", feed.folder);
  json.field("grouped", feed.grouped).field("has_icon", feed.has_icon).field("gone", feed.gone);
  write_time(json, "polled", feed.polled);
  write_time(json, "next_poll", feed.next_poll);
  json.field("problem", feed.problem).field("items", feed.items).field("unread", feed.unread).end();
}

void write_feeds(JsonWriter& json, std::span<const FollowedFeed> feeds) {
  json.begin_object().key("feeds").begin_array();
  for (const FollowedFeed& feed : feeds) write_feed(json, feed);
  json.end().end();
}

void write_story(JsonWriter& json, const StoryView& story) {
  json.begin_object().field("id", number(story.id)).field("count", story.count);
  json.field("sources", story.sources);
  write_time(json, "first", story.first);
  write_time(json, "last", story.last);
  json.field("read", story.read).field("starred", story.starred).field("hidden", story.hidden);
  write_id_or_null(json, "repeats", story.repeats.value_or(kNoStory));
  json.key("representative");
  write_item(json, story.representative);
  json.key("others").begin_array();
  for (const ItemView& item : story.others) write_item(json, item);
  json.end().end();
}

void write_timeline(JsonWriter& json, const TimelinePage& page) {
  json.begin_object().key("stories").begin_array();
  for (const StoryView& story : page.stories) write_story(json, story);
  json.end().key("next");
  if (page.next.empty()) {
    json.null();
  } else {
    json.value(page.next);
  }
  json.field("unread", page.unread).end();
}

void write_event(JsonWriter& json, const NewsEvent& event) {
  json.begin_object();
  write_ids(json, "changed", event.changed);
  json.key("gone").begin_array();
  for (const auto& gone : event.gone) {
    json.begin_object().field("story", number(gone.story));
    write_id_or_null(json, "into", gone.into);
    json.end();
  }
  json.end();
  write_ids(json, "feeds", event.feeds);
  json.end();
}

}  // namespace kin::stories
