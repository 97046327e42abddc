// Ids of feeds, items, stories and terms.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kin::stories {

// An item: any number chosen by the caller, such as the row of a table or file.
enum class ItemId : std::uint64_t {};

// A story, numbered from 1 in the order in which stories are opened. Numbers are never reused.
enum class StoryId : std::uint64_t {};
inline constexpr StoryId kNoStory{0};

// A feed that the user follows.
enum class FeedId : std::uint64_t {};

// A term of one Vocabulary. Dense.
enum class TermId : std::uint32_t {};

template <typename Id>
constexpr std::uint64_t number(Id id) {
  static_assert(std::is_same_v<std::underlying_type_t<Id>, std::uint64_t>);
  return static_cast<std::uint64_t>(id);
}
constexpr std::uint32_t index(TermId id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace kin::stories
