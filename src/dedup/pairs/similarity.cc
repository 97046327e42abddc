#include "dedup/pairs/similarity.h"

#include <fmt/format.h>

#include <algorithm>

#include "sketch/jaccard.h"

namespace kin::dedup {

void ExactSimilarity::prefetch(std::vector<RecordId> ids) {
  for (RecordId& id : ids) id = classes_.text_owner(id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  values_.get_batch(ids, [&](RecordId id, std::string_view text) {
    if (used_ >= memory_) return;
    Shingles shingles = shingles_of(text);
    used_ += shingles.size() * sizeof(std::uint64_t);
    remembered_.emplace(id, std::move(shingles));
  });
}

void ExactSimilarity::forget() {
  remembered_.clear();
  used_ = 0;
}

Result<double> ExactSimilarity::between(RecordId a, RecordId b) {
  KIN_TRY(const Shingles* of_a, find(a, scratch_a_));
  KIN_TRY(const Shingles* of_b, find(b, scratch_b_));
  return sketch::exact_jaccard(*of_a, *of_b);
}

ExactSimilarity::Shingles ExactSimilarity::shingles_of(std::string_view text) {
  const std::span<const std::uint64_t> found = shingler_.shingles(text);
  Shingles shingles(found.begin(), found.end());
  sketch::sort_unique(shingles);
  return shingles;
}

Result<const ExactSimilarity::Shingles*> ExactSimilarity::find(RecordId id, Shingles& scratch) {
  id = classes_.text_owner(id);
  const auto known = remembered_.find(id);
  if (known != remembered_.end()) return &known->second;
  KIN_TRY(const auto text, values_.get(id));
  if (!text) {
    return Error{Code::kInternal,
                 fmt::format("the text of row {} was not kept for verification", row_number(id))};
  }
  scratch = shingles_of(*text);
  return &scratch;
}

}  // namespace kin::dedup
