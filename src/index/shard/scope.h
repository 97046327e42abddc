// The documents that a scope means.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "index/query.h"
#include "index/truth/doc_set.h"
#include "index/vector/filter.h"
#include "index/view.h"

namespace kin::index {

// Makes no set where nothing is restricted. One thread only; not longer than the view and the scope
// live.
class ScopedDocs {
 public:
  // `among`: no others. kInvalidArgument for a filter that makes no sense.
  static Result<ScopedDocs> of(const ShardView& view, const Scope& scope,
                               const DocSet* among = nullptr);

  // A search of the texts in scope.
  TextSearch text() const;
  // Every document in scope.
  DocSet all() const;
  // Whether any entity can be in scope at all.
  bool has_entities() const { return (scope_->kinds & kind_bit(DocKind::kEntity)) != 0; }
  // The entities in scope, with perhaps other documents beside them; nothing: all that there are.
  const IdFilter* entities();

 private:
  ScopedDocs(const ShardView& view, const Scope& scope) : view_(&view), scope_(&scope) {}
  Status add_filters(const DocSet* among);

  const ShardView* view_;
  const Scope* scope_;
  std::optional<DocSet> named_;  // by filters; as_of and kinds are left to whoever searches
  std::optional<IdFilter> entities_;
};

// The ids that a filter by "id" means: a UUID, a ULID, or what any source calls an entity.
std::vector<DocId> ids_called(const ShardView& view, const Scope& scope, std::string_view name);

}  // namespace kin::index
