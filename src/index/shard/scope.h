// The documents that are in a scope.
#pragma once

#include <optional>

#include "base/result.h"
#include "index/query.h"
#include "index/truth/doc_set.h"
#include "index/vector/filter.h"
#include "index/view.h"

namespace kin::index {

// Builds a set only if the scope restricts something. One thread only; the view and the scope must
// outlive it.
class ScopedDocs {
 public:
  // Restricted to `among` unless that is null. kInvalidArgument for a filter that is not valid.
  static Result<ScopedDocs> of(const ShardView& view, const Scope& scope,
                               const DocSet* among = nullptr);

  // The restrictions of a text search.
  TextSearch text() const;
  // Every document in scope.
  DocSet all() const;
  // Whether any entity can be in scope at all.
  bool has_entities() const { return (scope_->kinds & kind_bit(DocKind::kEntity)) != 0; }
  // A set with the entities in scope, and perhaps other documents; null: all entities are in scope.
  const IdFilter* entities();

 private:
  ScopedDocs(const ShardView& view, const Scope& scope) : view_(&view), scope_(&scope) {}
  Status add_filters();
  Status keep_among();
  Status hide_partitions();
  void restrict(DocSet numbers);

  const ShardView* view_;
  const Scope* scope_;
  std::optional<DocSet> allowed_;  // nothing: all; does not regard `as_of` and `kinds`
  TextSections hidden_;              // all of whose documents are not allowed
  std::optional<IdFilter> entities_;
};

}  // namespace kin::index
