// The frame of files of term vectors: magic and versions at the start, a checksum at the end.
#pragma once

#include <cstdint>
#include <filesystem>
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

// Reads a file of a model. kInvalidArgument unless it is a regular file of at most 4 GiB: a device
// or a pipe may have no end. kNotFound if there is none.
Result<std::string> read_model_file(const std::filesystem::path& path);

}  // namespace kin::embed::internal
