#include "stories/news_json.h"

namespace kin::stories {
namespace {

std::optional<std::string> date_of(const std::optional<Time>& time) {
  return time ? std::optional(format_date(*time)) : std::nullopt;
}

std::optional<std::uint64_t> number_of(std::optional<StoryId> story) {
  return story && *story != kNoStory ? std::optional(number(*story)) : std::nullopt;
}

void write_item(JsonWriter& json, const ItemView& item) {
  json.begin_object().field("id", number(item.id)).field("feed", number(item.feed));
  json.field("source", item.source)
      .field("title", item.title)
      .field("url", item.url)
      .field("summary", item.summary);
  json.field("author", item.author).field("published", format_date(item.published));
  json.field("similarity", item.similarity).field("why", name_of(item.tier));
  json.field("seen", item.seen).end();
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
  json.field("polled", date_of(feed.polled)).field("next_poll", date_of(feed.next_poll));
  json.field("problem", feed.problem).field("items", feed.items).field("unread", feed.unread);
  json.field("starred", feed.starred).end();
}

void write_feeds(JsonWriter& json, std::span<const FollowedFeed> feeds) {
  json.begin_object().key("feeds").begin_array();
  for (const FollowedFeed& feed : feeds) write_feed(json, feed);
  json.end().end();
}

void write_story(JsonWriter& json, const StoryView& story) {
  json.begin_object().field("id", number(story.id)).field("count", story.count);
  json.field("sources", story.sources).field("first", format_date(story.first));
  json.field("last", format_date(story.last)).field("at", format_date(story.at));
  json.field("bound", number(story.bound)).field("new", story.news);
  json.field("read", story.read).field("starred", story.starred).field("hidden", story.hidden);
  json.field("repeats", number_of(story.repeats)).key("representative");
  write_item(json, story.representative);
  json.key("others").begin_array();
  for (const ItemView& item : story.others) write_item(json, item);
  json.end().end();
}

void write_related(JsonWriter& json, const RelatedStory& story) {
  json.begin_object().field("id", number(story.id)).field("title", story.title);
  json.field("count", story.count).field("sources", story.sources);
  json.field("last", format_date(story.last)).end();
}

void write_timeline(JsonWriter& json, const TimelinePage& page) {
  json.begin_object().key("stories").begin_array();
  for (const StoryView& story : page.stories) write_story(json, story);
  json.end().key("next");
  page.next.empty() ? json.null() : json.value(page.next);
  json.field("unread", page.unread).field("bound", number(page.bound));
  json.key("words").begin_array();
  for (const SearchedWord& word : page.words)
    json.begin_object().field("text", word.text).field("prefix", word.prefix).end();
  json.end().end();
}

void write_event(JsonWriter& json, const NewsEvent& event) {
  json.begin_object();
  write_ids(json, "changed", event.changed);
  json.key("gone").begin_array();
  for (const auto& gone : event.gone) {
    json.begin_object().field("story", number(gone.story));
    json.field("into", number_of(gone.into)).end();
  }
  json.end();
  write_ids(json, "feeds", event.feeds);
  json.end();
}

}  // namespace kin::stories
