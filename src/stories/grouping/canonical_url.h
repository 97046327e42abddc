// One address for one page, however it was linked to.
#pragma once

#include <string>
#include <string_view>

namespace kin::stories {

// What identifies the page behind an http or https address: the host in lower case without "www.",
// "m.", "amp." or a standard port, the path without AMP's marks, an index page or a slash at its
// end, and the query without parameters that only track, sorted by name. No scheme, user or
// fragment: "https://www.example.com/a/?utm_source=x#top" gives "example.com/a". Addresses of a
// cache of AMP pages give the page's own.
//
// Empty for anything that is no http or https address: two of those are never the same page. The
// result is for comparing; it need not lead anywhere. Canonicalising "https://" and a result again
// gives the result. Any bytes are allowed. Thread-safe.
std::string canonical_url(std::string_view url);

}  // namespace kin::stories
