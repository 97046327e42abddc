#include "index/shard_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kin::index {

Result<const SpaceView*> ShardView::space(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const SpaceView& one : spaces()) {
    if (name.empty() || one.name == name) return &one;
    names.push_back(one.name);
  }
  return Error{Code::kNotFound, fmt::format("there is no space \"{}\" (there are: {})", name,
                                            fmt::join(names, ", "))};
}

Result<std::vector<VectorHit>> ShardView::nearest(const SpaceView& space,
                                                  std::span<const float> query,
                                                  VectorSearch how) const {
  return space.index->search(query, how);
}

Result<std::optional<std::vector<float>>> ShardView::vector(const SpaceView& space,
                                                            DocNumber number) const {
  KIN_TRY(auto found, truth().vectors(std::span(&number, 1), space.name));
  return std::move(found.front());
}

}  // namespace kin::index
