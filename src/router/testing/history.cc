#include "router/testing/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <set>
#include <unordered_set>

namespace kin::router {
namespace {

constexpr std::size_t kMostOperations = 256;
using Chosen = std::bitset<kMostOperations>;

double seconds(SteadyTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count() - 3600;
}

bool fits(const Operation& operation, KeyState state) {
  switch (operation.kind) {
    case Operation::Kind::kWrite: return true;
    case Operation::Kind::kSees: return state == operation.state;
    case Operation::Kind::kSeesOther: return state != operation.state;
    case Operation::Kind::kExists: return state != 0;
  }
  return false;
}

// Looks for an order by trying every operation that may come next (Wing and Gong), and never twice
// the same choice with the same state (Lowe).
class OrderSearch {
 public:
  explicit OrderSearch(std::vector<Operation> operations) : operations_(std::move(operations)) {
    std::ranges::stable_sort(operations_, {}, &Operation::begun);
  }

  bool run() { return extend({}, 0); }
  const std::vector<Operation>& operations() const { return operations_; }

 private:
  bool extend(const Chosen& chosen, KeyState state) {
    // Nothing may come after an operation that ended before it began.
    SteadyTime first_end = SteadyTime::max();
    bool all = true;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      if (chosen[i] || !operations_[i].ended) continue;
      all = false;
      first_end = std::min(first_end, *operations_[i].ended);
    }
    if (all) return true;
    if (!tried_.insert({chosen.to_string(), state}).second) return false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& next = operations_[i];
      if (next.begun > first_end) break;
      if (chosen[i] || !fits(next, state)) continue;
      Chosen more = chosen;
      more.set(i);
      const bool writes = next.kind == Operation::Kind::kWrite;
      if (extend(more, writes ? next.state : state)) return true;
    }
    return false;
  }

  std::vector<Operation> operations_;
  std::set<std::pair<std::string, KeyState>> tried_;
};

}  // namespace

std::optional<std::string> History::violation() const {
  for (const auto& [key, operations] : keys_) {
    if (operations.size() > kMostOperations)
      return fmt::format("key {} has too many operations to check", key);
    OrderSearch search(operations);
    if (search.run()) continue;
    std::string text = fmt::format("nothing explains what was seen of key {}:\n", key);
    for (const Operation& one : search.operations()) {
      text += fmt::format("  {:10.6f} to {}  {}\n", seconds(one.begun),
                          one.ended ? fmt::format("{:10.6f}", seconds(*one.ended)) : "   unknown",
                          one.what);
    }
    return text;
  }
  return {};
}

std::size_t History::size() const {
  std::size_t all = 0;
  for (const auto& [key, operations] : keys_) all += operations.size();
  return all;
}

}  // namespace kin::router
