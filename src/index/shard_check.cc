#include "index/internal/shard_state.h"

namespace kin::index {

Result<CheckReport> Shard::State::check(const std::function<void(double)>&) const {
  return CheckReport{};
}

}  // namespace kin::index
