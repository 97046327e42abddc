// What files of term vectors have in common: how they begin, and how they are sealed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::embed::internal {

// Magic, version u16, version of the terms u16; at the end a checksum u64 of all before it.
struct ModelFile {
  std::string_view magic;
  std::uint16_t version;
  std::string_view what;  // for messages: "this is no …"

  std::string begin() const;
  static void seal(std::string& bytes);

  // What stands between the beginning and the seal. kDataLoss if it is no such file.
  Result<std::string_view> open(std::string_view bytes) const;
  Error damaged(std::string_view why) const;
};

}  // namespace kin::embed::internal
