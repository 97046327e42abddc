// What is asked of a shard, and what it answers: by words, by nearness, by links, or together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/graph.h"
#include "index/view.h"

namespace kin::index {

// "tag", "source", "type", "id" or the name of an attribute. Of filters of one name any, of all
// names each has to hold. An id is a UUID, a ULID, or what the sources filtered by, or else any
// source, call an entity. Values are compared as facets are, without regard to case.
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
  std::string text = {};           // empty: the words of the text leg
  double recall = 0.97;
  bool exact = false;
};

enum class Fusion : std::uint8_t {
  kAlpha,  // scores as parts of what is best, weighted
  kRrf     // reciprocal ranks: 1 / (60 + rank), summed
};
// With kAlpha a document that one leg found is scored by the others too. Words count as parts of
// their best score; similarities count as they are, cosines being parts of 1 already, so that a
// query with nothing near it does not lift what is least far.
struct FusionOptions {
  Fusion how = Fusion::kAlpha;
  double alpha = 0.2;  // of the vector leg; the more the better its vectors are
  double floor = 0;    // the similarity of what has nothing to do with each other: counts as 0
  double graph = 0.3;  // of a graph leg; words and vectors divide what is left
  // Of each leg, or k if that is more. What legs, or neighbours, join is taken from so many of each
  // leg whatever the page, so pages end with those.
  std::size_t depth = 100;
};

// Neighbours of what was found join it, or lift what is there already: each hop costs, and edges
// pass on by their weight. Weights above 1 count against the heaviest of those that are walked.
struct Expansion {
  std::uint32_t hops = 0;  // 0: none; at most 16
  Direction direction = Direction::kBoth;
  EdgeFilter edges = {};
  double decay = 0.5;        // of the score, a hop
  std::size_t most = 1'000;  // neighbours that join
};

struct GraphStart {
  std::vector<DocId> from = {};  // not found themselves
};

// Legs that are there are searched and joined. None: every document in scope, by number. A single
// leg keeps its scores: BM25, similarity, what is passed on. Pages of a vector leg alone may
// overlap unless it is exact: looking deeper finds better ones.
struct ShardQuery {
  std::optional<TextLeg> text = {};
  std::optional<VectorLeg> vector = {};
  // What is within reach of these by `expand`, of one hop at least; nothing else is expanded then.
  std::optional<GraphStart> graph = {};
  Scope scope = {};
  FusionOptions fusion = {};
  Expansion expand = {};
  std::size_t k = 10;
  std::size_t offset = 0;
  // How many the words match, or that the other legs or links brought in beside; without any leg,
  // how many are in scope. Cannot be told of other legs alone.
  bool count = false;
  std::vector<std::string> facets = {};        // of the same; of the scope for other legs alone
  Millis validity_at = 0;                      // what the facet "validity" is counted for
  const TextStatistics* statistics = nullptr;  // of all shards, instead of this one's own
};

enum class LegKind : std::uint8_t { kText, kVector, kGraph };

// How a leg came to a hit.
struct LegScore {
  LegKind leg = LegKind::kText;
  double score = 0;        // BM25; similarity, more is nearer; what was passed on by links
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
  // Of the score before, a share from 0 to 1 that stays in the new one; both count as parts of the
  // best then.
  double keep = 0;
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
