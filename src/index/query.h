// Queries to a shard, by words, nearness and links, and their results.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "index/doc_identity.h"
#include "index/graph.h"
#include "index/view.h"

namespace kin::index {

// `name` is "tag", "source", "type", "id" or the name of an attribute. A document passes if, for
// every name, it has one of the values given for that name. An id is a UUID, a ULID, or the key of
// an entity. Values are compared as facets are, without regard to case.
struct Filter {
  std::string name = {};
  std::string value = {};
};

// The documents that a search considers.
struct Scope {
  std::vector<Filter> filters = {};
  std::optional<Millis> as_of = {};  // only documents, and edges on the way, valid at that moment
  std::uint8_t kinds = kAllKinds;    // see kind_bit()
  // Entities of other partitions are invisible to every leg, with their edges and fragments.
  // Nothing: all partitions that the shard holds.
  std::optional<std::set<PartitionId>> partitions = {};
  // Only these documents. Nothing: all.
  std::optional<std::vector<DocIdentity>> among = {};
};

struct TextLeg {
  std::string query = {};
  enum class Syntax : std::uint8_t {
    kLanguage,  // see text/query.h
    kPlain      // any of its words
  };
  Syntax syntax = Syntax::kLanguage;
  int fuzzy = 0;  // the letters by which a word may differ: 0, 1 or 2
};

struct VectorLeg {
  std::string space = {};  // empty: the first
  // The query as a vector, computed once for all shards. Empty if the query has no vector in the
  // space; then the leg finds nothing.
  std::vector<float> vector = {};
  double recall = 0.97;
  bool exact = false;
};

enum class Fusion : std::uint8_t {
  kAlpha,  // scores as shares of the best, weighted
  kRrf     // reciprocal ranks: 1 / (60 + rank), summed
};
// With kAlpha a document that one leg found is scored by the others too. Text scores count as
// shares of the best text score. Similarities count as they are, because cosines are shares of 1
// already: weak matches are not promoted merely for being nearest.
struct FusionOptions {
  Fusion how = Fusion::kAlpha;
  double alpha = 0.2;  // weight of the vector leg; more for better vectors
  double floor = 0;    // similarity of unrelated documents; counts as 0
  double graph = 0.3;  // weight of a graph leg; text and vector leg divide the rest
  // Candidates of each leg; k if that is more. The same for every page, so that pages agree; they
  // end with the candidates.
  std::size_t depth = 100;
};

// Neighbours of hits join the hits, or raise the score of neighbours that are hits already. Each
// hop multiplies by `decay` and by the edge's weight. Weights above 1 count relative to the
// heaviest edge on the way.
struct Expansion {
  std::uint32_t hops = 0;  // 0: no expansion; at most 16
  Direction direction = Direction::kBoth;
  EdgeFilter edges = {};
  double decay = 0.5;        // factor for the score, per hop
  std::size_t most = 1'000;  // most neighbours that join
};

struct GraphStart {
  std::vector<DocId> from = {};  // not found themselves
};

// The legs that are present are searched and fused. Without any, all documents in scope are listed
// by number. A single leg keeps its raw scores. Pages of a vector leg alone may overlap unless it
// is exact: a deeper search finds better hits.
struct ShardQuery {
  std::optional<TextLeg> text = {};
  std::optional<VectorLeg> vector = {};
  // Finds the entities within reach by `expand`, which must allow at least one hop. Hits of other
  // legs are not expanded then.
  std::optional<GraphStart> graph = {};
  Scope scope = {};
  FusionOptions fusion = {};
  Expansion expand = {};
  std::size_t k = 10;
  std::size_t offset = 0;
  // Counts the matches of the text leg and the hits that other legs or links add to them; without
  // legs, the documents in scope. An error with other legs alone.
  bool count = false;
  std::vector<std::string> facets = {};  // of the same; with other legs alone, of the scope
  // With a text leg: count, and facets, of its matches alone.
  bool words_only = false;
  Millis validity_at = 0;                      // the moment that the facet "validity" refers to
  const TextStatistics* statistics = nullptr;  // of all shards, instead of this one's own
};

enum class LegKind : std::uint8_t { kText, kVector, kGraph };

// One document that a leg found or scored.
struct LegHit {
  std::uint32_t document = 0;  // a number chosen by the maker of the list
  double score = 0;            // raw: BM25; similarity, more is nearer; what links passed on
  std::uint32_t rank = 0;      // from 1; 0: the leg did not find it, but scored it
};

// Each document once; first the documents with a rank in its order, then the others.
struct LegFound {
  LegKind leg = LegKind::kText;
  std::vector<LegHit> hits = {};
};

// The part of one leg in the score of a hit.
struct LegScore {
  LegKind leg = LegKind::kText;
  double score = 0;        // raw, see LegHit
  double share = 0;        // its part of the hit's score
  std::uint32_t rank = 0;  // see LegHit
};

// The way by which a neighbour was reached.
struct GraphTrace {
  DocId by = {};  // the node before it
  std::uint32_t hops = 0;
  std::vector<GraphEdge> edges = {};  // from the start or hit to here
};

struct ShardHit {
  DocNumber number =
      kNoNumber;  // in the view that it was found on; none if several shards were asked
  DocIdentity doc = {};
  std::uint64_t age = 0;  // see ApplyOptions::ages; 0 if one shard was asked
  std::size_t shard = 0;  // place among the shards that were asked
  double score = 0;
  std::vector<LegScore> legs = {};
  std::optional<GraphTrace> trace = {};
};

struct ShardHits {
  std::vector<ShardHit> hits = {};  // best first; of equal scores the lower number first
  std::optional<std::uint64_t> count = {};
  std::vector<FacetCounts> facets = {};
};

// kInvalidArgument for a query that is not valid; for a text leg the message says where.
// Thread-safe.
Result<ShardHits> search(const ShardView& view, const ShardQuery& query);

// A pipeline of stages: the first finds candidates, each later one works on the candidates of the
// stage before it.
struct FindStage {        // a later one keeps the candidates that it finds, with new scores
  ShardQuery query = {};  // k is how many to find; `count`, `facets` and `offset` are ignored
  // The share, from 0 to 1, of the previous score in the new one. Unless it is 0, both scores are
  // first divided by the best of their kind.
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

// kInvalidArgument names the invalid stage, counted from 1. Thread-safe.
Result<ShardHits> run_pipeline(const ShardView& view, std::span<const Stage> stages);

}  // namespace kin::index
