#include "dedup/output/tags.h"

#include <algorithm>

namespace kin::dedup {
namespace {

enum class Tag : std::size_t { kGroup, kKept, kSimilarity, kDuplicates };

// Such a removal names no kept record of this run.
bool stands_alone(const Removal& removal) {
  return removal.kept == removal.record;
}

}  // namespace

Tags::Tags(std::string_view prefix, const std::vector<Removal>& removals, std::uint64_t references)
    : removals_(removals), references_(static_cast<std::int64_t>(references)) {
  const std::string start(prefix);
  added_ = {{start + "group", Type::kInteger},
            {start + "kept", Type::kBoolean},
            {start + "similarity", Type::kReal},
            {start + "duplicates", Type::kInteger}};
  std::vector<RecordId> kept;
  for (const Removal& removal : removals) {
    if (!stands_alone(removal)) kept.push_back(removal.kept);
  }
  std::sort(kept.begin(), kept.end());
  for (std::size_t begin = 0; begin < kept.size();) {
    std::size_t end = begin;
    while (end < kept.size() && kept[end] == kept[begin]) ++end;
    counts_.emplace_back(kept[begin], static_cast<std::uint32_t>(end - begin));
    begin = end;
  }
}

const Removal* Tags::removal_of(RecordId record) const {
  const auto at = std::lower_bound(
      removals_.begin(), removals_.end(), record,
      [](const Removal& removal, RecordId wanted) { return removal.record < wanted; });
  return at != removals_.end() && at->record == record ? &*at : nullptr;
}

std::int64_t Tags::duplicates_of(RecordId kept) const {
  const auto at =
      std::lower_bound(counts_.begin(), counts_.end(), kept,
                       [](const auto& count, RecordId wanted) { return count.first < wanted; });
  return at != counts_.end() && at->first == kept ? at->second : 0;
}

std::optional<data::RecordEdits::Value> Tags::added_value(std::size_t column,
                                                          RecordId record) const {
  const Removal* removal = removal_of(record);
  const bool alone = removal != nullptr && stands_alone(*removal);
  const RecordId kept = removal != nullptr ? removal->kept : record;
  switch (static_cast<Tag>(column)) {
    case Tag::kGroup: {
      if (alone || duplicates_of(kept) == 0) return {};
      const auto row = static_cast<std::int64_t>(row_number(kept));
      return row < references_ ? -1 - row : row - references_;
    }
    case Tag::kKept: return removal == nullptr;
    case Tag::kSimilarity:
      if (removal == nullptr || removal->method == Method::kSeen) return {};
      return static_cast<double>(removal->similarity);
    case Tag::kDuplicates: return alone ? 0 : duplicates_of(kept);
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::dedup
