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
  } else if (name == "hidden") {
    KIN_TRY(query.hidden_only, truth_in(parameter));
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
  // Either user and password or a token, not both.
  if (user != password || user == token)
    fields.fail("token", "must be given, or \"user\" and \"password\" instead");
}

// Calls `read` on the fields of a JSON body.
// Fields that it does not read are an error.
template <typename Value, typename Read>
Result<Value> value_in(const Request& request, const Read& read) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  Value value{};
  read(body, value);
  KIN_RETURN_IF_ERROR(body.finish());
  return value;
}

void read_new_feed(JsonFields& body, stories::NewFeed& feed) {
  body.require("url");
  body.read("url", feed.url);
  body.read("title", feed.title);
  body.read("folder", feed.folder);
  body.read("grouped", feed.grouped);
  body.read_object("credentials",
                   [&](JsonFields& fields) { read_credentials(fields, feed.credentials); });
}

void read_feed_edit(JsonFields& body, stories::FeedEdit& edit) {
  body.read("title", edit.title);
  body.read("folder", edit.folder);
  body.read("grouped", edit.grouped);
}

void read_bound(JsonFields& body, std::optional<ItemId>& before) {
  std::uint64_t bound = 0;
  if (body.read("before", bound, kIds)) before = ItemId{bound};
}

void read_story_edit(JsonFields& body, stories::StoryEdit& edit) {
  body.read("read", edit.read);
  read_bound(body, edit.before);
  body.read("starred", edit.starred);
  body.read("hidden", edit.hidden);
}

struct MarkRequest {
  stories::TimelineQuery query{};
  std::optional<ItemId> before{};
};

void read_mark(JsonFields& body, MarkRequest& mark) {
  std::uint64_t feed = 0;
  if (body.read("feed", feed, kIds)) mark.query.feed = FeedId{feed};
  body.read("folder", mark.query.folder);
  read_bound(body, mark.before);
}

void read_undo(JsonFields& body, std::uint64_t& mark) {
  body.require("undo");
  body.read("undo", mark, kIds);
}

// The fate of starred stories when a feed is removed.
Result<stories::StarredItems> starred_in(const Request& request) {
  for (const Parameter& parameter : request.query) {
    if (parameter.name != "starred")
      return Error{Code::kInvalidArgument,
                   fmt::format("parameter \"{}\" is not known here", parameter.name)};
    if (parameter.value != "keep" && parameter.value != "remove")
      return Error{Code::kInvalidArgument, "parameter \"starred\" must be keep or remove"};
  }
  return request.parameter("starred") == "remove" ? stories::StarredItems::kRemove
                                                  : stories::StarredItems::kKeep;
}

void read_dial(JsonFields& body, std::optional<double>& dial) {
  double value = 0;
  if (body.read("dial", value)) dial = value;
}

void read_with(JsonFields& body, StoryId& with) {
  std::uint64_t id = 0;
  body.require("with");
  body.read("with", id, kIds);
  with = StoryId{id};
}

Status no_fields(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  return JsonFields(json).finish();
}

// --- answers -----------------------------------------------------------------------------------

Result<Response> feed_answer(int status, const Result<stories::FollowedFeed>& feed) {
  if (!feed) return feed.error();
  JsonWriter json;
  json.begin_object().key("feed");
  write_feed(json, *feed);
  return json_response(status, json.end().take());
}

Result<Response> story_answer(const Result<stories::StoryView>& story) {
  if (!story) return story.error();
  JsonWriter json;
  json.begin_object().key("story");
  write_story(json, *story);
  return json_response(200, json.end().take());
}

Result<Response> feeds_answer(const Newsroom& newsroom) {
  KIN_TRY(const auto feeds, newsroom.feeds());
  JsonWriter json;
  stories::write_feeds(json, feeds);
  return json_response(200, json.take());
}

Result<Response> timeline_answer(const Newsroom& newsroom, const Request& request) {
  KIN_TRY(const auto query, timeline_query(request, {}));
  KIN_TRY(const auto page, newsroom.timeline(query));
  JsonWriter json;
  stories::write_timeline(json, page);
  return json_response(200, json.take());
}

// Icons come from strangers. The policy keeps a browser from running or loading anything in them.
Result<Response> icon_answer(const Newsroom& newsroom, FeedId id, const Request& request) {
  KIN_TRY(const auto icon, newsroom.icon(id));
  if (!icon) return error_response(404, fmt::format("feed {} has no icon", number(id)));
  const std::string etag = fmt::format("\"{:016x}\"", hash64(icon->bytes));
  Response response{.headers = {{"Content-Type", std::string(content_type(icon->type))},
                                {"Content-Security-Policy", "default-src 'none'; sandbox"},
                                {"Content-Disposition", "inline; filename=\"icon\""},
                                {"Cache-Control", "private, max-age=86400"},
                                {"ETag", etag}}};
  if (has_etag(request, etag)) {
    response.status = 304;
  } else {
    response.body = icon->bytes;
  }
  return response;
}

Result<Response> opml_answer(const Newsroom& newsroom) {
  KIN_TRY(std::string opml, newsroom.export_opml());
  return Response{.headers = {{"Content-Type", "text/x-opml; charset=utf-8"},
                              {"Content-Disposition", "attachment; filename=\"kindred.opml\""},
                              {"Cache-Control", "no-store"}},
                  .body = std::move(opml)};
}

Result<Response> settings_answer(const Newsroom& newsroom) {
  KIN_TRY(const stories::Settings settings, newsroom.settings());
  JsonWriter json;
  json.begin_object().field("dial", settings.dial);
  return json_response(200, json.end().take());
}

Result<Response> health_answer(const Newsroom& newsroom) {
  // Reads the database, so that a broken one is reported.
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
                 .handler =
                     [parts = parts_](const Request& request, std::uint64_t) {
                       return or_error(add_feed(parts, request), Blame::kRemote);
                     },
                 .lane = Lane::kSlow});
    change("PATCH", "/api/v1/feeds/{id}",
           [&room](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_TRY(const auto edit, value_in<stories::FeedEdit>(request, read_feed_edit));
             return feed_answer(200, room.edit_feed(FeedId{id}, edit));
           });
    change("DELETE", "/api/v1/feeds/{id}",
           [&room](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_TRY(const auto starred, starred_in(request));
             KIN_RETURN_IF_ERROR(room.remove_feed(FeedId{id}, starred));
             return Response{.status = 204};
           });
  }

  void add_refreshing() {
    change("POST", "/api/v1/refresh", [parts = parts_](const Request& request, std::uint64_t) {
      return refresh(parts, request, std::nullopt);
    });
    change("POST", "/api/v1/feeds/{id}/refresh",
           [parts = parts_](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_RETURN_IF_ERROR(parts.newsroom.feed(FeedId{id}));
             return refresh(parts, request, FeedId{id});
           });
  }

  void add_opml() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/opml", [&room](const Request&, std::uint64_t) { return opml_answer(room); });
    routes_.add({.method = "POST",
                 .pattern = "/api/v1/opml",
                 .handler = [parts = parts_](
                                const Request& request,
                                std::uint64_t) { return or_error(import_opml(parts, request)); },
                 .most_body = kLargestOpml,
                 .body = BodyKind::kXml});
  }

  void add_stories() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/timeline",
        [&room](const Request& request, std::uint64_t) { return timeline_answer(room, request); });
    change("POST", "/api/v1/timeline/read",
           [&room](const Request& request, std::uint64_t) -> Result<Response> {
             KIN_TRY(const auto mark, value_in<MarkRequest>(request, read_mark));
             KIN_TRY(const auto marked, room.mark_read(mark.query, mark.before));
             return json_response(
                 200, fmt::format("{{\"read\":{},\"undo\":{}}}", marked.stories, marked.undo));
           });
    change("POST", "/api/v1/timeline/unread",
           [&room](const Request& request, std::uint64_t) -> Result<Response> {
             KIN_TRY(const auto mark, value_in<std::uint64_t>(request, read_undo));
             KIN_TRY(const std::uint64_t unread, room.undo_mark(mark));
             return json_response(200, fmt::format("{{\"unread\":{}}}", unread));
           });
    get("/api/v1/stories/{id}",
        [&room](const Request& request, std::uint64_t id) -> Result<Response> {
          KIN_TRY(const auto scope, timeline_query(request, {}));
          return story_answer(room.story(StoryId{id}, scope));
        });
    get("/api/v1/stories/{id}/related",
        [&room](const Request&, std::uint64_t id) -> Result<Response> {
          KIN_TRY(const auto related, room.related(StoryId{id}));
          JsonWriter json;
          json.begin_object().key("related").begin_array();
          for (const stories::RelatedStory& story : related) stories::write_related(json, story);
          return json_response(200, json.end().end().take());
        });
    change("PATCH", "/api/v1/stories/{id}",
           [&room](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_TRY(const auto edit, value_in<stories::StoryEdit>(request, read_story_edit));
             return story_answer(room.edit_story(StoryId{id}, edit));
           });
  }

  void add_settings() {
    Newsroom& room = parts_.newsroom;
    get("/api/v1/settings",
        [&room](const Request&, std::uint64_t) { return settings_answer(room); });
    change("PATCH", "/api/v1/settings",
           [&room](const Request& request, std::uint64_t) -> Result<Response> {
             KIN_TRY(const auto dial, value_in<std::optional<double>>(request, read_dial));
             KIN_TRY(stories::Settings settings, room.settings());
             settings.dial = dial.value_or(settings.dial);
             KIN_RETURN_IF_ERROR(room.change_settings(settings));
             return settings_answer(room);
           });
  }

  void add_corrections() {
    Newsroom& room = parts_.newsroom;
    change("POST", "/api/v1/items/{id}/separate",
           [&room](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_RETURN_IF_ERROR(no_fields(request));
             return story_answer(room.separate(ItemId{id}));
           });
    change("POST", "/api/v1/stories/{id}/unite",
           [&room](const Request& request, std::uint64_t id) -> Result<Response> {
             KIN_TRY(const StoryId with, value_in<StoryId>(request, read_with));
             return story_answer(room.unite(StoryId{id}, with));
           });
  }

  void add_others() {
    Newsroom& room = parts_.newsroom;
    routes_.add({.method = "GET",
                 .pattern = "/healthz",
                 .handler = [&room](const Request&,
                                    std::uint64_t) { return or_error(health_answer(room)); },
                 .open = true});
    routes_.add({.method = "GET",
                 .pattern = "/api/v1/events",
                 .handler =
                     [events = parts_.events](const Request&, std::uint64_t) {
                       return Response{.headers = {{"Content-Type", "text/event-stream"},
                                                   {"Cache-Control", "no-store"},
                                                   // nginx would hold events back until its buffer
                                                   // is full.
                                                   {"X-Accel-Buffering", "no"}},
                                       .events = events};
                     },
                 .lane = Lane::kInline});
  }

 private:
  using Handler = std::function<Result<Response>(const Request&, std::uint64_t)>;

  void get(std::string pattern, Handler answer) {
    change("GET", std::move(pattern), std::move(answer));
  }
  void change(std::string method, std::string pattern, Handler answer) {
    routes_.add({.method = std::move(method),
                 .pattern = std::move(pattern),
                 .handler = [answer = std::move(answer)](const Request& request, std::uint64_t id) {
                   return or_error(answer(request, id));
                 }});
  }

  static Result<Response> add_feed(const ApiParts& parts, const Request& request) {
    KIN_TRY(const auto feed, value_in<stories::NewFeed>(request, read_new_feed));
    auto added = parts.newsroom.add_feed(feed);
    // The poller plans its next step by the feeds it knows.
    if (added) parts.feeds_changed();
    // The HTTP client refuses the address, and knows nothing about options.
    if (!added && added.error().message.find("must not be connected to") != std::string::npos)
      return Error{added.error().code,
                   added.error().message + " (kindred serve --allow-private permits it)"};
    return feed_answer(201, added);
  }

  static Result<Response> refresh(const ApiParts& parts, const Request& request,
                                  std::optional<FeedId> feed) {
    KIN_RETURN_IF_ERROR(no_fields(request));
    parts.refresh(feed);
    return json_response(202, "{}");
  }

  static Result<Response> import_opml(const ApiParts& parts, const Request& request) {
    KIN_TRY(const auto import, parts.newsroom.import_opml(request.body));
    parts.feeds_changed();
    JsonWriter json;
    json.begin_object().field("added", import.added).field("already", import.already);
    return json_response(200, json.field("left_out", import.left_out).end().take());
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
  api.add_settings();
  api.add_corrections();
  api.add_others();
}

}  // namespace kin::server
