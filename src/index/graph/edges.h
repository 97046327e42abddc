// Which edges leave a node, and which lead to it?
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

// Edges that are meant; one that says nothing means all.
struct EdgeFilter {
  std::vector<std::string> names = {};
  std::optional<Millis> as_of = {};     // holds at that moment
  std::optional<Validity> during = {};  // holds at some moment of that period
  std::optional<double> min_weight = {};
  std::optional<double> max_weight = {};
};

// An edge without what it says; TruthView::edge() has that.
struct GraphEdge {
  EdgeId id = {};
  Millis until = kForever;
  double weight = 1;
  friend bool operator==(const GraphEdge&, const GraphEdge&) = default;
};

// An edge on the way, its name a number.
struct EdgeStep {
  EdgePlace place = {};
  Millis until = kForever;
  double weight = 1;
  DocId other = {};  // the end that is not the node it was asked of
};
Result<GraphEdge> named(const TruthView& view, const EdgeStep& step);

// Reads the edges of one node after another. One thread only; not longer than the view lives.
class EdgeWalker {
 public:
  EdgeWalker(const TruthView& view, Direction direction, const EdgeFilter& filter);

  // Those of `node` that the filter means: outgoing ones first, then by name, other end and
  // beginning. `visit` returns whether to go on.
  using Visit = std::function<bool(const EdgeStep&)>;
  Status visit(const DocId& node, const Visit& visit);

 private:
  enum class Side : std::uint8_t { kForward, kReverse };
  kv::Cursor& cursor(Side side);
  // False if it was told to stop.
  Result<bool> walk(Side side, std::string_view prefix, const Visit& visit);
  Result<bool> walk_names(Side side, const DocId& node, const Visit& visit);
  bool means(const EdgeStep& step) const;

  const TruthView& view_;
  Direction direction_;
  EdgeFilter filter_;
  std::vector<NameId> names_;  // of the filter, as far as anything has them
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
