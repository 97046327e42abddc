#include "cloud/signing/sigv4.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cloud/signing/digest.h"

namespace kin::cloud {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

bool is_unreserved(char c) {
  return is_ascii_alpha(c) || is_ascii_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string canonical_path(std::string_view path, const SigningScope& scope) {
  if (path.empty()) return "/";
  // All services but S3 encode the path a second time.
  return scope.service == "s3" ? uri_encoded(uri_decoded(path), "/") : uri_encoded(path, "/");
}

std::string canonical_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> fields;
  while (!query.empty()) {
    const std::string_view field = take_until(query, "&");
    if (field.empty()) continue;
    const std::size_t equals = std::min(field.find('='), field.size());
    const std::string_view value = field.substr(std::min(equals + 1, field.size()));
    fields.emplace_back(uri_encoded(uri_decoded(field.substr(0, equals))),
                        uri_encoded(uri_decoded(value)));
  }
  std::ranges::sort(fields);
  std::string out;
  for (const auto& [name, value] : fields)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

// Proxies add or change these, so they are not signed.
bool may_change(std::string_view name) {
  constexpr std::string_view kMayChange[] = {"authorization", "connection",      "expect",
                                             "user-agent",    "accept-encoding", "content-length"};
  return std::ranges::find(kMayChange, name) != std::end(kMayChange);
}

// Trimmed, and with runs of spaces replaced by one.
std::string folded(std::string_view value) {
  std::string out;
  const std::string_view text = trimmed(value);
  out.reserve(text.size());
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space)
      out += c;
    else if (!out.ends_with(' '))
      out += ' ';
  }
  return out;
}

// Values by lower-case name, sorted; several of one name are joined.
using SignedHeaders = std::vector<std::pair<std::string, std::string>>;

void add_header(const net::Header& header, SignedHeaders& headers) {
  std::string name = ascii_lowered(header.name);
  if (may_change(name)) return;
  const auto at = std::ranges::lower_bound(headers, name, {}, &SignedHeaders::value_type::first);
  if (at == headers.end() || at->first != name)
    headers.emplace(at, std::move(name), folded(header.value));
  else if (name != "host")
    at->second.append(",").append(folded(header.value));
}

SignedHeaders signed_headers(const SignedParts& parts) {
  SignedHeaders out;
  out.reserve(parts.headers.size() + 4);  // with the host, and those that sign() adds
  out.emplace_back("host", parts.host);
  for (const net::Header& header : parts.headers) add_header(header, out);
  return out;
}

std::string joined_names(const SignedHeaders& headers) {
  std::string out;
  for (const auto& [name, value] : headers) out.append(out.empty() ? "" : ";").append(name);
  return out;
}

std::string signing_key(std::string_view secret, std::string_view date, const SigningScope& scope) {
  std::string key = hmac_sha256(fmt::format("AWS4{}", secret), date);
  key = hmac_sha256(key, scope.region);
  key = hmac_sha256(key, scope.service);
  return hmac_sha256(key, "aws4_request");
}

// `names` are those of the headers, joined.
std::string canonical_text(const SignedParts& parts, const SigningScope& scope,
                           const SignedHeaders& headers, std::string_view names) {
  std::string out(parts.method);
  out.append("\n").append(canonical_path(parts.path, scope));
  out.append("\n").append(canonical_query(parts.query)).append("\n");
  for (const auto& [name, value] : headers) out.append(name).append(":").append(value).append("\n");
  out.append("\n").append(names).append("\n").append(parts.payload_hash);
  return out;
}

}  // namespace

std::string amazon_time(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string uri_encoded(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c) || keep.find(c) != std::string_view::npos)
      out += c;
    else
      out += percent_escape(c);
  }
  return out;
}

std::string uri_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                       hex_value(text[i + 2]) >= 0;
    if (coded) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string canonical_request(const SignedParts& parts, const SigningScope& scope) {
  const SignedHeaders headers = signed_headers(parts);
  return canonical_text(parts, scope, headers, joined_names(headers));
}

std::vector<net::Header> signature_headers(const SignedParts& parts, const SigningScope& scope,
                                           const AwsCredentials& credentials, WallTime time) {
  return Signer(scope).sign(parts, credentials, time);
}

std::string Signer::key_of(const std::string& secret, const std::string& date) {
  const std::lock_guard lock(mutex_);
  if (key_.empty() || secret != secret_ || date != date_) {
    key_ = signing_key(secret, date, scope_);
    secret_ = secret;
    date_ = date;
  }
  return key_;
}

std::vector<net::Header> Signer::sign(const SignedParts& parts, const AwsCredentials& credentials,
                                      WallTime time) {
  const std::string now = amazon_time(time);
  const std::string date = now.substr(0, 8);
  std::vector<net::Header> added{{"X-Amz-Date", now}};
  if (scope_.service == "s3")
    added.push_back({"X-Amz-Content-Sha256", std::string(parts.payload_hash)});
  if (!credentials.session_token.empty())
    added.push_back({"X-Amz-Security-Token", credentials.session_token});
  SignedHeaders headers = signed_headers(parts);
  for (const net::Header& header : added) add_header(header, headers);
  const std::string names = joined_names(headers);
  std::string scope_text = date;
  for (const std::string* part : {&scope_.region, &scope_.service})
    scope_text.append("/").append(*part);
  scope_text += "/aws4_request";
  std::string to_sign(kAlgorithm);
  to_sign.append("\n").append(now).append("\n").append(scope_text).append("\n");
  to_sign += to_hex(sha256(canonical_text(parts, scope_, headers, names)));
  std::string value(kAlgorithm);
  value.append(" Credential=").append(credentials.access_key).append("/").append(scope_text);
  value.append(", SignedHeaders=").append(names).append(", Signature=");
  value += to_hex(hmac_sha256(key_of(credentials.secret_key, date), to_sign));
  added.push_back({"Authorization", std::move(value)});
  return added;
}

}  // namespace kin::cloud
