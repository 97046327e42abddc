// The steps of a search that pipelines and explanations share. All functions are thread-safe.
#pragma once

#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/truth/doc_set.h"
#include "index/view.h"

namespace kin::index {

// kInvalidArgument if it makes no sense.
Status check(const ShardQuery& query);
Status check(const Expansion& expand);

// As search(); of documents that are in `among`, unless that is nothing.
Result<ShardHits> search_among(const ShardView& view, const ShardQuery& query, const DocSet* among);

// The hits of all pages; of a single leg without expansion those up to the end of this one.
Result<ShardHits> search_all(const ShardView& view, const ShardQuery& query);

// Best first; of equal scores the lower number first.
void put_in_order(std::vector<ShardHit>& hits);

// What joins hits by links.
struct JoinRequest {
  const Expansion& expand;
  const Scope& scope;             // neighbours join if they are in it
  const DocSet* among = nullptr;  // and in this, if there is any
};
// Neighbours of the hits join them, or lift what is among them already, by what is passed on to
// them; then all are put in order.
Status join_neighbours(const ShardView& view, const JoinRequest& request,
                       std::vector<ShardHit>& hits);

}  // namespace kin::index
