// What is asked of a shard, and what it answers: by words, by nearness, by links, or together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/graph.h"
#include "index/shard_view.h"

namespace kin::index {

// "tag", "source", "type", "id" or the name of an attribute. Of filters of one name any, of all
// names each has to hold.
struct Filter {
  std::string name = {};
  std::string value = {};
};

// Which documents are meant at all.
struct Scope {
  std::vector<Filter> filters = {};
  std::optional<Millis> as_of = {};  // valid at that moment; also edges that are walked
  std::uint8_t kinds = kAllKinds;    // see kind_bit()
};

struct TextLeg {
  std::string query = {};
  enum class Syntax : std::uint8_t {
    kLanguage,  // see text_query.h
    kPlain      // any of its words
  };
  Syntax syntax = Syntax::kLanguage;
  int fuzzy = 0;  // words that are looked for may be so many letters away: 0, 1 or 2
};

struct VectorLeg {
  std::string space = {};          // empty: the first
  std::vector<float> vector = {};  // empty: what the space's source makes of `text`
  std::string text = {};
  double recall = 0.97;
  bool exact = false;
};

enum class Fusion : std::uint8_t {
  kAlpha,  // alpha of the one plus 1 - alpha of the other, each from 0 to 1 over what it found
  kRrf     // reciprocal ranks: 1 / (60 + rank), summed
};
struct FusionOptions {
  Fusion how = Fusion::kAlpha;
  double alpha = 0.3;       // of the vector leg
  double graph = 0.3;       // of a graph leg; text and vectors divide what is left
  std::size_t depth = 100;  // of each leg, or k if that is more
};

// Neighbours of what was found join it: each hop costs.
struct Expansion {
  std::uint32_t hops = 0;  // 0: none
  Direction direction = Direction::kBoth;
  EdgeFilter edges = {};
  double decay = 0.5;        // of the score, a hop
  std::size_t most = 1'000;  // neighbours that join
};

struct GraphStart {
  std::vector<DocId> from = {};
};

// Legs that are there are searched and joined. None: every document in scope, by number.
struct ShardQuery {
  std::optional<TextLeg> text = {};
  std::optional<VectorLeg> vector = {};
  std::optional<GraphStart> graph = {};  // what is within reach of these, by `expand`
  Scope scope = {};
  FusionOptions fusion = {};
  Expansion expand = {};
  std::size_t k = 10;
  std::size_t offset = 0;
  bool count = false;                          // how many match: needs a text leg or none at all
  std::vector<std::string> facets = {};        // over what the text leg, or the scope, matches
  Millis validity_at = 0;                      // what the facet "validity" is counted for
  const TextStatistics* statistics = nullptr;  // of all shards, instead of this one's own
};

enum class LegKind : std::uint8_t { kText, kVector, kGraph };

// How a leg came to a hit.
struct LegScore {
  LegKind leg = LegKind::kText;
  double score = 0;        // BM25; similarity, more is nearer; what the neighbour passed on
  double share = 0;        // that it has in the hit's score
  std::uint32_t rank = 0;  // from 1 among what the leg found; 0: scored, though it was not among it
};

// By which way a neighbour came in.
struct GraphTrace {
  DocId by = {};  // the node before it
  std::uint32_t hops = 0;
  std::vector<GraphEdge> edges = {};  // from what was found to here
};

struct ShardHit {
  DocNumber number = kNoNumber;
  DocKind kind = DocKind::kEntity;
  DocId id = {};  // the entity; of an edge, or its fragment, where it begins
  double score = 0;
  std::vector<LegScore> legs = {};
  std::optional<GraphTrace> trace = {};
};

struct ShardHits {
  std::vector<ShardHit> hits = {};  // best first; of equal scores the lower number first
  std::optional<std::uint64_t> count = {};
  std::vector<FacetCounts> facets = {};
};

// kInvalidArgument for a query that makes no sense; a text leg's says where. Thread-safe.
Result<ShardHits> search(const ShardView& view, const ShardQuery& query);

// One after another: the first finds candidates, each of the others works on those of the one
// before.
struct FindStage {  // the first: finds; later: keeps of the candidates those it finds, newly scored
  ShardQuery query = {};  // its k is how many; `count`, `facets` and `offset` are not used
  double keep = 0;        // of the score before, a share from 0 to 1 that stays in the new one
};
struct ExpandStage {
  Expansion expand = {};
};
struct FilterStage {
  Scope scope = {};
};
struct LimitStage {
  std::size_t k = 10;
};
using Stage = std::variant<FindStage, ExpandStage, FilterStage, LimitStage>;

// kInvalidArgument names the stage, from 1, that makes no sense. Thread-safe.
Result<ShardHits> run_pipeline(const ShardView& view, std::span<const Stage> stages);

}  // namespace kin::index
