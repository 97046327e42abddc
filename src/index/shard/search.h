// The steps that find(), pipelines and searches of
// one shard share. All functions are thread-safe.
#pragma once

#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/truth/doc_set.h"
#include "index/view.h"

namespace kin::index {

// kInvalidArgument if the query is not valid.
Status check(const ShardQuery& query);
Status check(const Expansion& expand);

bool has_legs(const ShardQuery& query);
// The candidates that each leg has to find, at most `documents`.
std::size_t find_depth(const ShardQuery& query, std::size_t documents);

// As search(), restricted to documents in `among` unless that is null.
Result<ShardHits> search_among(const ShardView& view, const ShardQuery& query, const DocSet* among);

// Best first; ties are broken by the lower number.
void put_in_order(std::vector<ShardHit>& hits);

struct JoinRequest {
  const Expansion& expand;
  const Scope& scope;             // neighbours join if they are in scope
  const DocSet* among = nullptr;  // and in this set, unless it is null
};
// Adds the neighbours of the hits, or raises the scores of those that are hits already; then puts
// all in order.
Status join_neighbours(const ShardView& view, const JoinRequest& request,
                       std::vector<ShardHit>& hits);

}  // namespace kin::index
