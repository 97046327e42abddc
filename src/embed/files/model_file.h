// The frame of files of term vectors: magic and versions at the start, a checksum at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::embed::internal {

// Magic, version u16, version of the terms u16, content, checksum u64 of everything before it.
struct ModelFile {
  std::string_view magic;
  std::uint16_t version;
  std::string_view what;  // for messages: "not a …"

  std::string begin() const;
  static void seal(std::string& bytes);

  // The content of a file. kDataLoss if it is damaged or another file.
  Result<std::string_view> open(std::string_view bytes) const;
  Error damaged(std::string_view why) const;
};

}  // namespace kin::embed::internal
