// A newsroom full of made-up news.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace kin::stories {

inline constexpr std::uint64_t kFilledFolders = 20;

// A made-up word. Common words have low numbers.
std::string made_up_word(std::uint64_t number);

struct FillOptions {
  std::uint64_t feeds = 0;  // at https://feedN.example/, in "Folder N" of kFilledFolders folders
  std::uint64_t items = 0;  // over 90 days, two or three to a story
};

// Makes the database of a newsroom in `folder` and adds feeds and items on the path that polls
// take, but without waiting for the disk. The same options make the same news.
Status fill_newsroom(const std::filesystem::path& folder, const FillOptions& options);

}  // namespace kin::stories
