// An item as grouping takes it.
#pragma once

#include <cstdint>
#include <string>

#include "stories/ids.h"

namespace kin::stories {

// Seconds since 1970, UTC.
using UnixSeconds = std::int64_t;

// Texts are plain text without markup, ideally UTF-8. Empty where nothing is known.
struct Item {
  ItemId id{};
  std::string title;
  UnixSeconds published_at = 0;
  std::string source{};  // name of the publication
  std::string summary{};
  std::string url{};
  std::string guid{};   // unique within its source
  bool grouped = true;  // false: it is a story by itself
};

}  // namespace kin::stories
