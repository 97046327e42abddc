// What is in a seen set, for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "store/seen_set.h"

namespace kin::app {

struct SeenOverview {
  std::string name;
  store::IdKind kind = store::IdKind::kNumber;
  store::SeenStats stats;
};

std::string to_json(const SeenOverview& overview);
std::string to_table(const SeenOverview& overview);

// A set that was read from end to end, and was whole.
struct SeenVerified {
  std::string name;
  store::SeenStats stats;
  double seconds = 0;
};

std::string to_json(const SeenVerified& verified);
std::string to_words(const SeenVerified& verified);

}  // namespace kin::app
