// Canonical addresses, to decide whether two links lead to one page.
#pragma once

#include <string>
#include <string_view>

namespace kin::stories {

// The canonical form of an http or https address: the host in lower case without "www.", "m.",
// "amp." or a standard port; the path without AMP suffixes, index page or final slash; the query
// without tracking parameters, sorted by name. Scheme, user and fragment are removed:
// "https://www.example.com/a/?utm_source=x#top" gives "example.com/a". Addresses of AMP caches give
// the original page.
//
// Empty if `url` is not an http or https address. The result is for comparison only and may not
// work as an address. canonical_url("https://" + result) gives the same result. Any bytes are
// allowed. Thread-safe.
std::string canonical_url(std::string_view url);

}  // namespace kin::stories
