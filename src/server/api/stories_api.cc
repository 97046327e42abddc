#include "server/api/stories_api.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/version.h"
#include "data/json_fields.h"
#include "server/http/parameters.h"
#include "server/page/assets.h"
#include "stories/news_json.h"

namespace kin::server {
namespace {

using data::JsonFields;
using data::JsonValue;
using stories::FeedId;
using stories::ItemId;
using stories::Newsroom;
using stories::StoryId;

constexpr std::size_t kLargestOpml = std::size_t{16} << 20;
constexpr std::uint64_t kLongestPage = 200;

// --- requests ----------------------------------------------------------------------------------

Status understand(const Parameter& parameter, stories::TimelineQuery& query, QueryRules rules) {
  const std::string& name = parameter.name;
  if (name == "limit") {
    KIN_TRY(query.limit, number_in(parameter, kLongestPage));
  } else if (name == "before") {
    query.before = parameter.value;
  } else if (name == "feed") {
    KIN_TRY(const std::uint64_t id, number_in(parameter, std::uint64_t{1} << 62));
    query.feed = FeedId{id};
  } else if (name == "folder") {
    query.folder = parameter.value;
  } else if (name == "q") {
    query.text = parameter.value;
  } else if (name == "unread") {
    KIN_TRY(query.unread_only, truth_in(parameter));
  } else if (name == "starred") {
    KIN_TRY(query.starred_only, truth_in(parameter));
  } else if (rules.refuse_unknown) {
    return Error{Code::kInvalidArgument, fmt::format("parameter \"{}\" is not known here", name)};
  }
  return Done{};
}

// The largest whole number up to which JSON is exact.
constexpr data::JsonRange kIds{1, 9007199254740992.0};

void read_credentials(JsonFields& fields, net::Credentials& credentials) {
  const bool user = fields.read("user", credentials.user);
  const bool password = fields.read("password", credentials.secret);
  const bool token = fields.read("token", credentials.secret);
  credentials.kind = token ? net::Credentials::Kind::kBearer : net::Credentials::Kind::kBasic;
  if (user != password || user == token)
    fields.fail("token", "must be given, or \"user\" and \"password\" instead");
}

Result<stories::NewFeed> new_feed_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  stories::NewFeed feed;
  body.require("url");
  body.read("url", feed.url);
  body.read("title", feed.title);
  body.read("folder", feed.folder);
  body.read("grouped", feed.grouped);
  body.read_object("credentials",
                   [&](JsonFields& fields) { read_credentials(fields, feed.credentials); });
  KIN_RETURN_IF_ERROR(body.finish());
  return feed;
}

Result<stories::FeedEdit> feed_edit_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  stories::FeedEdit edit;
  body.read("title", edit.title);
  body.read("folder", edit.folder);
  body.read("grouped", edit.grouped);
  KIN_RETURN_IF_ERROR(body.finish());
  return edit;
}

Result<stories::StoryEdit> story_edit_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  stories::StoryEdit edit;
  body.read("read", edit.read);
  body.read("starred", edit.starred);
  body.read("hidden", edit.hidden);
  KIN_RETURN_IF_ERROR(body.finish());
  return edit;
}

Result<stories::TimelineQuery> query_in_body(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  stories::TimelineQuery query;
  std::uint64_t feed = 0;
  if (body.read("feed", feed, kIds)) query.feed = FeedId{feed};
  body.read("folder", query.folder);
  KIN_RETURN_IF_ERROR(body.finish());
  return query;
}

Result<StoryId> with_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  std::uint64_t with = 0;
  body.require("with");
  body.read("with", with, kIds);
  KIN_RETURN_IF_ERROR(body.finish());
  return StoryId{with};
}

Status no_fields(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  return JsonFields(json).finish();
}

// --- answers -----------------------------------------------------------------------------------

Response feed_answer(int status, const Result<stories::FollowedFeed>& feed,
                     Blame blame = Blame::kOurs) {
  if (!feed) return error_response(feed.error(), blame);
  JsonWriter json;
  json.begin_object().key("feed");
  write_feed(json, *feed);
  return json_response(status, json.end().take());
}

Response story_answer(const Result<stories::StoryView>& story) {
  if (!story) return error_response(story.error());
  JsonWriter json;
  json.begin_object().key("story");
  write_story(json, *story);
  return json_response(200, json.end().take());
}

Response feeds_answer(const Newsroom& newsroom) {
  const auto feeds = newsroom.feeds();
  if (!feeds) return error_response(feeds.error());
  JsonWriter json;
  stories::write_feeds(json, *feeds);
  return json_response(200, json.take());
}

Response timeline_answer(const Result<stories::TimelinePage>& page) {
  if (!page) return error_response(page.error());
  JsonWriter json;
  stories::write_timeline(json, *page);
  return json_response(200, json.take());
}

// Icons come from strangers. The policy keeps a browser from running or loading anything in them.
Response icon_answer(const Newsroom& newsroom, FeedId id, const Request& request) {
  const auto icon = newsroom.icon(id);
  if (!icon) return error_response(icon.error());
  if (!icon->has_value())
    return error_response(404, fmt::format("feed {} has no icon", number(id)));
  const std::string etag = fmt::format("\"{:016x}\"", hash64((*icon)->bytes));
  Response response{.headers = {{"Content-Type", std::string(content_type((*icon)->type))},
                                {"Content-Security-Policy", "default-src 'none'; sandbox"},
                                {"Content-Disposition", "inline; filename=\"icon\""},
                                {"Cache-Control", "private, max-age=86400"},
                                {"ETag", etag}}};
  if (has_etag(request, etag)) {
    response.status = 304;
  } else {
    response.body = (*icon)->bytes;
  }
  return response;
}

Response opml_answer(const Newsroom& newsroom) {
  auto opml = newsroom.export_opml();
  if (!opml) return error_response(opml.error());
  return {.headers = {{"Content-Type", "text/x-opml; charset=utf-8"},
                      {"Content-Disposition", "attachment; filename=\"kindred.opml\""},
                      {"Cache-Control", "no-store"}},
          .body = std::move(*opml)};
}

Response health_answer(const Newsroom& newsroom) {
  const auto asked = newsroom.next_due();
  if (!asked) return error_response(503, asked.error().message);
  JsonWriter json;
  json.begin_object().field("status", "ok").field("version", kVersion);
  return json_response(200, json.end().take());
}

// --- routes ------------------------------------------------------------------------------------

class StoriesApi {
 public:
  StoriesApi(RouteTable& routes, const ApiParts& parts) : routes_(routes), parts_(parts) {}

  void add_feeds() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/feeds", [&room](const Request&, std::uint64_t) { return feeds_answer(room); });
    get("/api/v1/feeds/{id}", [&room](const Request&, std::uint64_t id) {
      return feed_answer(200, room.feed(FeedId{id}));
    });
    get("/api/v1/feeds/{id}/icon", [&room](const Request& request, std::uint64_t id) {
      return icon_answer(room, FeedId{id}, request);
    });
    routes_.add({.method = "POST",
                 .pattern = "/api/v1/feeds",
                 .handler = [parts = parts_](const Request& request,
                                             std::uint64_t) { return add_feed(parts, request); },
                 .lane = Lane::kSlow});
    change("PATCH", "/api/v1/feeds/{id}", [&room](const Request& request, std::uint64_t id) {
      const auto edit = feed_edit_in(request);
      return edit ? feed_answer(200, room.edit_feed(FeedId{id}, *edit))
                  : error_response(edit.error());
    });
    change("DELETE", "/api/v1/feeds/{id}", [&room](const Request&, std::uint64_t id) {
      const Status removed = room.remove_feed(FeedId{id});
      return removed.ok() ? Response{.status = 204} : error_response(removed.error());
    });
  }

  void add_refreshing() {
    change("POST", "/api/v1/refresh", [parts = parts_](const Request& request, std::uint64_t) {
      return refresh(parts, request, std::nullopt);
    });
    change("POST", "/api/v1/feeds/{id}/refresh",
           [parts = parts_](const Request& request, std::uint64_t id) {
             const auto feed = parts.newsroom.feed(FeedId{id});
             if (!feed) return error_response(feed.error());
             return refresh(parts, request, FeedId{id});
           });
  }

  void add_opml() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/opml", [&room](const Request&, std::uint64_t) { return opml_answer(room); });
    routes_.add({.method = "POST",
                 .pattern = "/api/v1/opml",
                 .handler = [parts = parts_](const Request& request,
                                             std::uint64_t) { return import_opml(parts, request); },
                 .most_body = kLargestOpml,
                 .body = BodyKind::kXml});
  }

  void add_stories() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/timeline", [&room](const Request& request, std::uint64_t) {
      const auto query = timeline_query(request, {});
      if (!query) return error_response(query.error());
      return timeline_answer(room.timeline(*query));
    });
    change("POST", "/api/v1/timeline/read", [&room](const Request& request, std::uint64_t) {
      const auto query = query_in_body(request);
      if (!query) return error_response(query.error());
      const auto read = room.mark_read(*query);
      return read ? json_response(200, fmt::format("{{\"read\":{}}}", *read))
                  : error_response(read.error());
    });
    get("/api/v1/stories/{id}", [&room](const Request&, std::uint64_t id) {
      return story_answer(room.story(StoryId{id}));
    });
    change("PATCH", "/api/v1/stories/{id}", [&room](const Request& request, std::uint64_t id) {
      const auto edit = story_edit_in(request);
      return edit ? story_answer(room.edit_story(StoryId{id}, *edit))
                  : error_response(edit.error());
    });
  }

  void add_corrections() {
    Newsroom& room = parts_.newsroom;
    change("POST", "/api/v1/items/{id}/separate",
           [&room](const Request& request, std::uint64_t id) {
             const Status fields = no_fields(request);
             return fields.ok() ? story_answer(room.separate(ItemId{id}))
                                : error_response(fields.error());
           });
    change("POST", "/api/v1/stories/{id}/unite", [&room](const Request& request, std::uint64_t id) {
      const auto with = with_in(request);
      return with ? story_answer(room.unite(StoryId{id}, *with)) : error_response(with.error());
    });
  }

  void add_others() {
    Newsroom& room = parts_.newsroom;
    routes_.add({.method = "GET",
                 .pattern = "/healthz",
                 .handler = [&room](const Request&, std::uint64_t) { return health_answer(room); },
                 .open = true});
    routes_.add({.method = "GET",
                 .pattern = "/api/v1/events",
                 .handler =
                     [events = parts_.events](const Request&, std::uint64_t) {
                       return Response{.headers = {{"Content-Type", "text/event-stream"},
                                                   {"Cache-Control", "no-store"},
                                                   {"X-Accel-Buffering", "no"}},
                                       .events = events};
                     },
                 .lane = Lane::kInline});
  }

 private:
  using Handler = std::function<Response(const Request&, std::uint64_t)>;

  void get(std::string pattern, Handler answer) {
    routes_.add({.method = "GET", .pattern = std::move(pattern), .handler = std::move(answer)});
  }
  void change(std::string method, std::string pattern, Handler answer) {
    routes_.add(
        {.method = std::move(method), .pattern = std::move(pattern), .handler = std::move(answer)});
  }

  static Response add_feed(const ApiParts& parts, const Request& request) {
    const auto feed = new_feed_in(request);
    if (!feed) return error_response(feed.error());
    const auto added = parts.newsroom.add_feed(*feed);
    if (added) parts.feeds_changed();
    return feed_answer(201, added, Blame::kRemote);
  }

  static Response refresh(const ApiParts& parts, const Request& request,
                          std::optional<FeedId> feed) {
    const Status fields = no_fields(request);
    if (!fields.ok()) return error_response(fields.error());
    parts.refresh(feed);
    return json_response(202, "{}");
  }

  static Response import_opml(const ApiParts& parts, const Request& request) {
    const auto import = parts.newsroom.import_opml(request.body);
    if (!import) return error_response(import.error());
    parts.feeds_changed();
    JsonWriter json;
    json.begin_object().field("added", import->added).field("already", import->already);
    return json_response(200, json.field("left_out", import->left_out).end().take());
  }

  RouteTable& routes_;
  ApiParts parts_;
};

}  // namespace

Result<stories::TimelineQuery> timeline_query(const Request& request, QueryRules rules) {
  stories::TimelineQuery query;
  for (const Parameter& parameter : request.query)
    KIN_RETURN_IF_ERROR(understand(parameter, query, rules));
  return query;
}

void add_stories_api(RouteTable& routes, const ApiParts& parts) {
  StoriesApi api(routes, parts);
  api.add_feeds();
  api.add_refreshing();
  api.add_opml();
  api.add_stories();
  api.add_corrections();
  api.add_others();
}

}  // namespace kin::server
