#include "server/http/gatekeeper.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "net/url.h"

namespace kin::server {
namespace {

constexpr std::size_t kShortestToken = 16;
constexpr std::string_view kCookieName = "kindred";
constexpr auto kFirstDelay = std::chrono::milliseconds(250);
constexpr std::int64_t kMostDelays = 16;      // of kFirstDelay: four seconds
constexpr std::int64_t kForgiveSeconds = 60;  // without a failure

// Compares digests, so that the time does not depend on where the secrets differ.
bool same_secret(std::string_view given, const std::string& digest) {
  const std::string other = sha256(given);
  return ::CRYPTO_memcmp(other.data(), digest.data(), digest.size()) == 0;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "localhost" of "localhost:8722", "[::1]" of "[::1]:8722"; nothing if it is malformed.
std::optional<std::string> host_name(std::string_view host) {
  // An IPv6 address has colons of its own, up to its bracket.
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::size_t colon = host.find(':', bracket);
  if (colon != std::string_view::npos && !is_digits(host.substr(colon + 1))) return std::nullopt;
  return ascii_lowered(host.substr(0, colon));
}

bool is_this_machine(std::string_view host) {
  const auto name = host_name(host);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

std::string_view host_of(std::string_view origin) {
  const std::size_t slashes = origin.find("//");
  return slashes == std::string_view::npos ? origin : origin.substr(slashes + 2);
}

bool is_timeline_feed(std::string_view path) {
  return path == "/stories.xml" || path == "/stories.json";
}

bool changes_something(std::string_view method) {
  return method != "GET" && method != "HEAD";
}

bool is_xml(std::string_view type) {
  return type == "text/x-opml" || type == "text/xml" || type == "application/xml" ||
         type.ends_with("+xml");
}

std::string_view cookie_value(std::string_view cookies) {
  while (!cookies.empty()) {
    std::string_view one = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(kCookieName) && one.substr(kCookieName.size()).starts_with('='))
      return one.substr(kCookieName.size() + 1);
  }
  return {};
}

}  // namespace

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  KIN_CHECK(
      ::EVP_Digest(text.data(), text.size(), digest.data(), &length, ::EVP_sha256(), nullptr) == 1,
      "SHA-256 is always there");
  return {reinterpret_cast<const char*>(digest.data()), length};
}

std::vector<net::Header> security_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; manifest-src 'self'; form-action 'none'; base-uri 'none'; "
           "frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Frame-Options", "DENY"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

Result<std::string> parse_public_url(std::string_view url) {
  const auto parsed = net::Url::parse(url);
  if (!parsed.ok() || (parsed->path() != "/" && !parsed->path().empty()) ||
      url.find_first_of("?#@") != std::string_view::npos)
    return Error{
        Code::kInvalidArgument,
        fmt::format(
            "--public-url: \"{}\" is not like https://news.example.org (a scheme and a host "
            "without a path: the page must be at the root of its host)",
            url)};
  return parsed->origin();
}

Status check_token(std::string_view token) {
  const auto fits = [](char c) {
    return is_ascii_digit(c) || is_ascii_alpha(c) ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  };
  if (token.size() < kShortestToken || !std::all_of(token.begin(), token.end(), fits))
    return Error{
        Code::kInvalidArgument,
        fmt::format("a token needs at least {} characters, all of them letters, digits or -._~+/= "
                    "(make one: openssl rand -hex 24)",
                    kShortestToken)};
  return Done{};
}

// The cookie is derived from the token, so the token itself is not in the browser's files.
Gatekeeper::Gatekeeper(GateOptions options)
    : options_(std::move(options)),
      token_digest_(sha256(options_.token)),
      cookie_(to_hex(sha256("kindred cookie 1\n" + options_.token))),
      cookie_digest_(sha256(cookie_)),
      feed_token_(to_hex(sha256("kindred feed 1\n" + options_.token)).substr(0, 32)),
      feed_token_digest_(sha256(feed_token_)) {}

std::optional<Response> Gatekeeper::check_sender(const Request& request) const {
  if (auto refusal = check_host(request)) return refusal;
  return check_site(request);
}

std::optional<Response> Gatekeeper::check_host(const Request& request) const {
  const auto hosts =
      std::count_if(request.headers.begin(), request.headers.end(),
                    [](const net::Header& field) { return same_but_for_case(field.name, "host"); });
  // RFC 9112, 3.2: a request without a Host, or with several, gets 400.
  if (hosts != 1 || !host_name(request.header("Host")))
    return error_response(400, "the request needs exactly one Host header field");
  // An attacker's host name may point to 127.0.0.1.
  // Requests of his page then carry that name.
  const std::string_view host = request.header("Host");
  const bool is_public = !options_.public_origin.empty() &&
                         host_name(host) == host_name(host_of(options_.public_origin));
  if (options_.loopback && !is_this_machine(host) && !is_public)
    return error_response(403, fmt::format("this server answers to localhost, 127.0.0.1 and [::1] "
                                           "only, not to {} (behind a reverse proxy: kindred serve "
                                           "--public-url https://{})",
                                           host, host));
  return std::nullopt;
}

// Browsers name the site that a request comes from. Clients that send neither field are not
// browsers.
std::optional<Response> Gatekeeper::check_site(const Request& request) const {
  const bool change = changes_something(request.method);
  // Other sites may link to the page.
  if (!change && !request.path.starts_with("/api/")) return std::nullopt;
  const std::string_view site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none")
    return error_response(403, "requests from other sites are refused");
  const auto origin = net::find_header(request.headers, "Origin");
  if (!change || !origin) return std::nullopt;
  const std::string own =
      (options_.tls ? "https://" : "http://") + ascii_lowered(request.header("Host"));
  if (same_but_for_case(*origin, own)) return std::nullopt;
  if (!options_.public_origin.empty() && same_but_for_case(*origin, options_.public_origin))
    return std::nullopt;
  return error_response(403,
                        "changes requested by other sites are refused (if this is your own page "
                        "behind a reverse proxy: kindred serve --public-url ADDRESS)");
}

std::optional<Response> Gatekeeper::check_body(const Request& request, BodyKind body) const {
  if (!changes_something(request.method)) return std::nullopt;
  // Other sites can send forms of some types without permission. For JSON and XML a browser asks
  // first, and we never permit it.
  const std::string type = net::parse_content_type(request.header("Content-Type")).type;
  // Forms cannot send DELETE, so no Content-Type is needed to rule them out.
  if (request.method == "DELETE" && type.empty()) return std::nullopt;
  if (body == BodyKind::kXml) {
    if (is_xml(type)) return std::nullopt;
    return error_response(415, "the request needs Content-Type: text/x-opml");
  }
  if (type == "application/json") return std::nullopt;
  return error_response(415, "the request needs Content-Type: application/json");
}

bool Gatekeeper::is_own(std::string_view secret, const std::string& digest) const {
  return !options_.token.empty() && same_secret(secret, digest);
}

Gatekeeper::Admission Gatekeeper::admit(const Request& request) {
  if (!needs_token()) return {};
  const auto passes_if = [&](bool right) -> Admission {
    if (right) return {};
    return {.refusal = wrong_token()};
  };
  if (request.path == "/") {
    if (const auto token = request.parameter("token")) {
      if (!is_own(*token, token_digest_)) return passes_if(false);
      return {
          .refusal = Response{
              .status = 303,
              .headers = {{"Location", "/"}, {"Cache-Control", "no-store"}, cookie_for(request)}}};
    }
  }
  if (is_timeline_feed(request.path)) {
    if (const auto token = request.parameter("token"))
      return passes_if(is_own(*token, feed_token_digest_));
  }
  static constexpr std::string_view kBearer = "bearer ";
  const std::string_view authorization = request.header("Authorization");
  if (ascii_lowered(authorization.substr(0, kBearer.size())) == kBearer) {
    const std::string_view token = authorization.substr(kBearer.size());
    if (is_own(token, token_digest_)) return {};
    auto tenant = options_.tenant_of ? options_.tenant_of(token) : std::nullopt;
    if (!tenant) return passes_if(false);
    return {.tenant = std::move(*tenant)};
  }
  const std::string_view cookie = cookie_value(request.header("Cookie"));
  if (!cookie.empty()) return passes_if(is_own(cookie, cookie_digest_));
  Response response = error_response(
      401, "a token is needed: log in on the page, or send Authorization: Bearer TOKEN");
  response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return {.refusal = std::move(response)};
}

net::Header Gatekeeper::cookie_for(const Request& request) const {
  // The proxy speaks TLS with the browser. On this machine's own names there is none.
  const bool secure = options_.tls || (options_.public_origin.starts_with("https:") &&
                                       (!is_this_machine(request.header("Host")) ||
                                        request.header("Origin").starts_with("https:")));
  return {"Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000{}",
                                    kCookieName, cookie_, secure ? "; Secure" : "")};
}

Response Gatekeeper::log_in(const Request& request, std::string_view token) {
  if (!needs_token()) return Response{.status = 204};
  if (!is_own(token, token_digest_)) return wrong_token();
  return Response{.status = 204, .headers = {{"Cache-Control", "no-store"}, cookie_for(request)}};
}

Response Gatekeeper::log_out() const {
  return Response{
      .status = 204,
      .headers = {{"Cache-Control", "no-store"},
                  {"Set-Cookie",
                   fmt::format("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", kCookieName)}}};
}

Response Gatekeeper::wrong_token() {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       options_.clock->steady_now().time_since_epoch())
                       .count();
  // All clients count together: a guesser may come from many addresses.
  if (now - last_failure_.exchange(now) > kForgiveSeconds) failures_ = 0;
  Response response = error_response(401, "the token is wrong");
  response.headers.push_back({"WWW-Authenticate", "Bearer"});
  response.delay = kFirstDelay * std::min(++failures_, kMostDelays);
  return response;
}

}  // namespace kin::server
