#include "stories/grouping/canonical_url.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"

namespace kin::stories {
namespace {

// Exact names, and prefixes that end in '*', with spaces between them.
constexpr std::string_view kTracking =
    "utm_* mc_* pk_* mtm_* hsa_* ga_* at_* fb_* fbclid gclid gclsrc dclid gbraid wbraid msclkid "
    "yclid twclid ttclid igshid igsh li_fat_id oly_* vero_* _hsenc _hsmi mkt_tok cmpid cmp ncid "
    "ocid icid rss partner ref ref_src referrer smid smtyp sr_share spm scmp_* src s_cid ns_* "
    "feedtype feedname track trk outputtype amp xtor wt.* emc guccounter guce_* soc_src soc_trk "
    "tsrc share* mod __twitter_impression __source";

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  const bool same = same_but_for_case(text.substr(0, prefix.size()), prefix);
  if (same) text.remove_prefix(prefix.size());
  return same;
}

bool is_unreserved(char c) {
  return is_ascii_digit(c) || is_ascii_alpha(c) ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

// Gives every character one spelling: decodes escapes of ordinary characters, writes other escapes
// with capital digits, and escapes bytes that an address must not contain.
std::string one_spelling(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      const char stands_for =
          static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      result += is_unreserved(stands_for) ? std::string(1, stands_for) : percent_escape(stands_for);
      i += 2;
      // Bytes from 0x80 on are negative, so they are escaped too.
    } else if (c <= ' ' || c == '\x7F' || c == '%') {
      result += percent_escape(c);
    } else {
      result += c;
    }
  }
  return result;
}

bool is_tracking(std::string_view name) {
  for (std::string_view rest = kTracking; !rest.empty();) {
    const std::string_view known = take_until(rest, " ");
    const bool same =
        known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
    if (same) return true;
  }
  return false;
}

std::string canonical_query(std::string_view query) {
  std::vector<std::string> kept;
  while (!query.empty()) {
    const std::string_view parameter = take_until(query, "&");
    const std::string_view name = parameter.substr(0, parameter.find('='));
    // Parameters may come in any order, hence the sorting.
    if (!name.empty() && !is_tracking(ascii_lowered(one_spelling(name))))
      kept.push_back(one_spelling(parameter));
  }
  std::ranges::sort(kept);
  std::string result;
  for (const std::string& parameter : kept) result += (result.empty() ? "?" : "&") + parameter;
  return result;
}

// "/a//b/./c/../d" → "/a/b/d".
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::string_view part = take_until(path, "/");
    if (part == "..") {
      // ".." at the root stays there, as in browsers.
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string result;
  for (const std::string_view part : parts) (result += '/') += part;
  return result;
}

bool drop_ending(std::string& path, std::string_view ending) {
  if (!path.ends_with(ending)) return false;
  path.resize(path.size() - ending.size());
  return true;
}

// True if more than dots come before the ending, so that a name is left without it.
bool ends_name(std::string_view path, std::string_view ending) {
  if (!path.ends_with(ending) || path.size() == ending.size()) return false;
  const char before = path[path.size() - ending.size() - 1];
  return before != '.' && before != '/';
}

// `path` without dots and in one spelling.
std::string without_amp(std::string path) {
  // Removing one ending may uncover another: "/a/amp/index.html".
  bool changed = true;
  while (changed) {
    changed = drop_ending(path, "/amp") || drop_ending(path, "/index.html") ||
              drop_ending(path, "/index.php") || drop_ending(path, "/amp.html");
    if (ends_name(path, ".amp.html")) {
      drop_ending(path, ".amp.html");
      path += ".html";
      changed = true;
    }
    changed |= ends_name(path, ".amp") && drop_ending(path, ".amp");
    changed |= drop_ending(path, "/");
  }
  // Keeps the slash before the rest.
  while (path.starts_with("/amp/")) path.erase(0, 4);
  return path;
}

std::string canonical_host(std::string_view authority) {
  // The last '@': a password may contain others.
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
    authority.remove_prefix(at + 1);
  std::string host = ascii_lowered(one_spelling(authority));
  // Repeated, so that the result does not change when it is made canonical again.
  while (drop_ending(host, ":80") || drop_ending(host, ":443") || drop_ending(host, ":") ||
         drop_ending(host, ".")) {
  }
  // "www.com" is a host itself: what is left must have a dot.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view label : {"www.", "m.", "amp.", "mobile."}) {
      if (!host.starts_with(label) || host.find('.', label.size()) == std::string::npos) continue;
      host.erase(0, label.size());
      changed = true;
    }
  }
  return host;
}

struct Parts {
  std::string_view authority;
  std::string_view path;
  std::string_view query;
};

Parts split(std::string_view address) {
  address = address.substr(0, address.find('#'));
  const std::string_view page = take_until(address, "?");
  const std::size_t slash = std::min(page.find('/'), page.size());
  return {.authority = page.substr(0, slash), .path = page.substr(slash), .query = address};
}

bool is_amp_cache(std::string_view host) {
  return host == "cdn.ampproject.org" || host.ends_with(".cdn.ampproject.org");
}

// The original address in the path of an AMP cache or viewer, without a scheme. It follows "/c/s/",
// "/v/s/" or "/amp/s/" (s means https). Empty if there is none.
std::string_view cached_address(std::string_view host, std::string_view rest) {
  const bool cache = is_amp_cache(host);
  if (!cache && host != "google.com") return {};
  if (!take_prefix(rest, "/amp/") &&
      !(cache && (take_prefix(rest, "/c/") || take_prefix(rest, "/v/"))))
    return {};
  take_prefix(rest, "s/");
  // Without a dot it is not a host, and the path is that of an ordinary page.
  const std::string_view inner_host = rest.substr(0, rest.find('/'));
  return inner_host.find('.') == std::string_view::npos ? std::string_view() : rest;
}

}  // namespace

std::string canonical_url(std::string_view url) {
  std::string_view address = trimmed(url, " \t\r\n\f\v");
  if (!take_prefix(address, "https://") && !take_prefix(address, "http://")) return {};
  // Each round makes the address shorter, so caches of caches end too.
  std::string inner;
  while (true) {
    const Parts parts = split(address);
    const std::string host = canonical_host(parts.authority);
    if (host.empty()) return {};
    const std::string path = without_dots(one_spelling(parts.path));
    std::string cached(cached_address(host, path));
    if (cached.empty()) {
      const std::string page = is_amp_cache(host) ? path : without_amp(path);
      return host + page + canonical_query(parts.query);
    }
    // The query belongs to the original page.
    if (!parts.query.empty()) cached.append("?").append(parts.query);
    inner = std::move(cached);
    address = inner;
  }
}

}  // namespace kin::stories
