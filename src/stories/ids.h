// Ids of the room.
#pragma once

#include <cstdint>

namespace kin::stories {

// A feed item: whatever number the caller knows it by, such as a row of a table or of a file.
enum class ItemId : std::uint64_t {};

// A story, numbered from 1 in order of opening; a number is never used twice.
enum class StoryId : std::uint64_t {};
inline constexpr StoryId kNoStory{0};

// A feed the user follows.
enum class FeedId : std::uint64_t {};

// A term of a vocabulary: dense, and meaningful with that vocabulary alone.
enum class TermId : std::uint32_t {};

constexpr std::uint64_t number(ItemId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t number(StoryId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint64_t number(FeedId id) {
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint32_t index(TermId id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace kin::stories
