#include "server/api/stories_feeds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "server/api/stories_api.h"
#include "server/http/target.h"
#include "server/page/assets.h"

namespace kin::server {
namespace {

using stories::ItemView;
using stories::StoryView;
using stories::Time;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '&': out += "&amp;"; return;
    case '<': out += "&lt;"; return;
    case '>': out += "&gt;"; return;
    case '"': out += "&quot;"; return;
    case '\'': out += "&#39;"; return;
    default: break;
  }
  // XML 1.0 has no way to write the other control characters.
  const bool allowed = static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n';
  if (allowed && c != 0x7F) out += c;
}

// U+FFFE and U+FFFF are not characters.
bool is_forbidden(std::string_view sequence) {
  return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
}

std::string id_of(const StoryView& story) {
  // The year is part of the name and stays: another id would show readers every story again.
  return fmt::format("tag:kindred,2026:story/{}", number(story.id));
}

std::string page_of(const FeedDocument& document, const StoryView& story) {
  return fmt::format("{}/story/{}", document.origin, number(story.id));
}

std::string url_of(const FeedDocument& document, const StoryView& story) {
  const std::string& url = story.representative.url;
  return url.empty() ? page_of(document, story) : url;
}

std::string other_html(const ItemView& item) {
  const std::string title = xml_escaped(item.title);
  const std::string source = xml_escaped(item.source);
  if (item.url.empty()) return fmt::format("<li>{} ({})</li>", title, source);
  return fmt::format("<li><a href=\"{}\">{}</a> ({})</li>", xml_escaped(item.url), title, source);
}

// The summary, and the other sources.
std::string content_html(const FeedDocument& document, const StoryView& story) {
  std::string html;
  if (!story.representative.summary.empty())
    html += "<p>" + xml_escaped(story.representative.summary) + "</p>";
  if (story.others.empty()) return html;
  html += "<ul>";
  for (const ItemView& item : story.others) html += other_html(item);
  html += "</ul>";
  const std::uint64_t shown = story.others.size() + 1;
  if (story.count > shown)
    html += fmt::format("<p><a href=\"{}\">{} more</a></p>", xml_escaped(page_of(document, story)),
                        story.count - shown);
  return html;
}

std::string author_of(const StoryView& story) {
  const ItemView& item = story.representative;
  return item.source.empty() ? item.author : item.source;
}

std::string atom_entry(const FeedDocument& document, const StoryView& story) {
  std::string out = fmt::format("<entry><id>{}</id><title>{}</title>", id_of(story),
                                xml_escaped(story.representative.title));
  out += fmt::format("<link rel=\"alternate\" href=\"{}\"/>", xml_escaped(url_of(document, story)));
  out += fmt::format("<published>{}</published><updated>{}</updated>",
                     stories::format_date(story.first), stories::format_date(story.at));
  const std::string author = author_of(story);
  if (!author.empty()) out += fmt::format("<author><name>{}</name></author>", xml_escaped(author));
  return out + fmt::format("<content type=\"html\">{}</content></entry>\n",
                           xml_escaped(content_html(document, story)));
}

Time newest(const FeedDocument& document) {
  Time time{};
  for (const StoryView& story : document.stories) time = std::max(time, story.at);
  return time;
}

// The document contains its own address, and people pass documents on.
std::string without_token(const Request& request) {
  if (!request.parameter("token")) return request.target;
  std::string_view rest = request.target;
  std::string target(take_until(rest, "?"));
  char mark = '?';
  while (!rest.empty()) {
    const std::string_view one = take_until(rest, "&");
    // An escaped name is decoded before it is compared.
    const auto parsed = parse_target("/?" + std::string(one));
    if (one.empty() || !parsed || parsed->query.empty() || parsed->query[0].name == "token")
      continue;
    target.append(1, std::exchange(mark, '&')).append(one);
  }
  return target;
}

Result<FeedDocument> make_document(const stories::Newsroom& newsroom, const Request& request,
                                   const FeedRouteOptions& options) {
  // Readers and pages that link here add parameters of their own, such as utm_source.
  KIN_TRY(const stories::TimelineQuery query, timeline_query(request, {.refuse_unknown = false}));
  KIN_TRY(stories::TimelinePage page, newsroom.timeline(query));
  return FeedDocument{
      .origin = options.public_origin.empty()
                    ? (options.tls ? "https://" : "http://") + std::string(request.header("Host"))
                    : options.public_origin,
      .target = without_token(request),
      .stories = std::move(page.stories)};
}

Response document_answer(const Request& request, std::string body, std::string_view type) {
  const std::string etag = fmt::format("\"{:016x}\"", hash64(body));
  Response response{.headers = {{"Content-Type", std::string(type)},
                                {"Cache-Control", "no-cache"},
                                // Weak: the answer may be sent packed.
                                {"ETag", "W/" + etag}}};
  if (has_etag(request, etag)) {
    response.status = 304;
  } else {
    response.body = std::move(body);
  }
  return response;
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    if (static_cast<signed char>(*at) >= 0) {
      append_escaped(out, *at++);
      continue;
    }
    const std::size_t length = utf8_sequence_length(at, end);
    if (length == 0) {
      out += kReplacement;
      ++at;
      continue;
    }
    const std::string_view sequence(at, length);
    if (!is_forbidden(sequence)) out += sequence;
    at += length;
  }
  return out;
}

std::string atom_feed(const FeedDocument& document) {
  std::string out =
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n";
  out += fmt::format("<id>{}</id><title>Kindred</title><updated>{}</updated>\n",
                     xml_escaped("tag:kindred,2026:" + document.target),
                     stories::format_date(newest(document)));
  out += "<author><name>Kindred</name></author><generator>Kindred</generator>\n";
  out += fmt::format("<link rel=\"self\" href=\"{}\"/><link rel=\"alternate\" href=\"{}/\"/>\n",
                     xml_escaped(document.origin + document.target), xml_escaped(document.origin));
  for (const StoryView& story : document.stories) out += atom_entry(document, story);
  return out + "</feed>\n";
}

std::string json_feed(const FeedDocument& document) {
  JsonWriter json;
  json.begin_object().field("version", "https://jsonfeed.org/version/1.1");
  json.field("title", "Kindred").field("home_page_url", document.origin + "/");
  json.field("feed_url", document.origin + document.target).key("items").begin_array();
  for (const StoryView& story : document.stories) {
    json.begin_object().field("id", id_of(story)).field("url", url_of(document, story));
    json.field("title", story.representative.title);
    json.field("content_html", content_html(document, story));
    json.field("date_published", stories::format_date(story.first));
    json.field("date_modified", stories::format_date(story.at));
    const std::string author = author_of(story);
    if (!author.empty())
      json.key("authors").begin_array().begin_object().field("name", author).end().end();
    json.end();
  }
  return json.end().end().take();
}

void add_feed_routes(RouteTable& routes, const stories::Newsroom& newsroom,
                     const FeedRouteOptions& options) {
  const auto add = [&](const char* pattern, auto write, const char* type) {
    routes.add(
        {.method = "GET",
         .pattern = pattern,
         .handler = [&newsroom, options, write, type](const Request& request, std::uint64_t) {
           const auto document = make_document(newsroom, request, options);
           if (!document) return error_response(document.error());
           return document_answer(request, write(*document), type);
         }});
  };
  add("/stories.xml", atom_feed, "application/atom+xml; charset=utf-8");
  add("/stories.json", json_feed, "application/feed+json");
}

}  // namespace kin::server
