// What a feed item brings to grouping.
#pragma once

#include <cstdint>
#include <string>

#include "stories/ids.h"

namespace kin::stories {

// Seconds since 1970, UTC.
using UnixSeconds = std::int64_t;

// All texts are plain text (no mark-up), ideally UTF-8.
struct Item {
  ItemId id{};
  std::string title;
  UnixSeconds published_at = 0;
  std::string source{};   // the publication: what "the same source" goes by
  std::string summary{};  // may be empty, as may be the following
  std::string url{};
  std::string guid{};   // unique within its source
  bool grouped = true;  // false: a story by itself, for feeds that are not to be grouped
};

}  // namespace kin::stories
