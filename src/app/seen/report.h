// Reports about a seen set, as text and as JSON.
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

// The result of a successful `seen verify`.
struct SeenVerified {
  std::string name;
  store::SeenStats stats;
  double seconds = 0;
};

std::string to_json(const SeenVerified& verified);
std::string to_words(const SeenVerified& verified);

}  // namespace kin::app
