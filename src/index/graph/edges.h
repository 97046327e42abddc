// The edges of a node, in both directions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "index/truth/view.h"

namespace kin::index {

enum class Direction { kOut, kIn, kBoth };
Direction opposite(Direction direction);

// Selects edges. An empty filter means all.
struct EdgeFilter {
  std::vector<std::string> names = {};  // empty: any name
  std::optional<Millis> as_of = {};     // edges that hold at that moment
  std::optional<Validity> during = {};  // edges that hold at some moment of that period
  std::optional<double> min_weight = {};
  std::optional<double> max_weight = {};
};

// An edge without its summary, which TruthView::edge() reads.
struct GraphEdge {
  EdgeId id = {};
  Millis until = kForever;
  double weight = 1;
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

// An edge during a walk, with its name as a number.
struct EdgeStep {
  EdgeKey key = {};
  Millis until = kForever;
  double weight = 1;
  DocId other = {};  // the end that the walk did not come from
};
Result<GraphEdge> named(const TruthView& view, const EdgeStep& step);

// Reads the edges of one node after another. One thread only; the view must outlive it.
class EdgeWalker {
 public:
  EdgeWalker(const TruthView& view, Direction direction, const EdgeFilter& filter);

  // Visits the edges of `node` that pass the filter: outgoing ones first, then by name, other end
  // and beginning. `visit` returns whether to continue.
  using Visit = std::function<bool(const EdgeStep&)>;
  Status visit(const DocId& node, const Visit& visit);

 private:
  enum class Side : std::uint8_t { kForward, kReverse };
  kv::Cursor& cursor(Side side);
  // False if `visit` stopped the walk.
  Result<bool> walk(Side side, std::string_view prefix, const Visit& visit);
  Result<bool> walk_names(Side side, const DocId& node, const Visit& visit);
  bool means(const EdgeStep& step) const;

  const TruthView& view_;
  Direction direction_;
  EdgeFilter filter_;
  std::vector<NameId> names_;  // of the filter; names that no edge has are left out
  std::array<std::optional<kv::Cursor>, 2> cursors_;
};

struct EdgeQuery {
  DocId node = {};
  Direction direction = Direction::kOut;
  EdgeFilter filter = {};
  enum class Order {
    kName,      // then other end, then beginning
    kHeaviest,  // then by name
    kNewest     // by beginning, then by name
  };
  Order order = Order::kName;
  std::size_t limit = 1'000;
};

// The first `limit` edges in the order asked for.
Result<std::vector<GraphEdge>> edges(const TruthView& view, const EdgeQuery& query);

}  // namespace kin::index
