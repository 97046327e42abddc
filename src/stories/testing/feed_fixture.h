// Fixtures for tests of feeds: the feed files of tests/feeds, and a fixed time.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "stories/feed_parser.h"

namespace kin::stories {

inline constexpr Time kNow = std::chrono::sys_days(std::chrono::year(2024) / 3 / 6);

inline std::string feed_file(const std::string& source_dir, const std::string& name) {
  std::ifstream file(source_dir + "/tests/feeds/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Result<Feed> parse_at(std::string_view bytes, std::string_view address = {}) {
  return parse_feed({.bytes = bytes, .address = address, .now = kNow});
}

// One item of RSS with `fields` in it.
inline std::string rss_with(std::string_view fields) {
  return "<rss version='2.0'><channel><title>F</title><link>https://f.example/dir/</link><item>" +
         std::string(fields) + "</item></channel></rss>";
}

}  // namespace kin::stories
