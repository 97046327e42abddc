#include "index/about.h"

#include "index/graph.h"

namespace kin::index {
namespace {

constexpr std::size_t kAll = 1'000'000;  // edges of an entity, fragments of anything

}  // namespace

Result<About> read_about(const TruthView& truth, StoredEntity entity, std::optional<Millis> as_of) {
  const DocId id = entity.entity.id;
  About about{.entity = std::move(entity)};
  KIN_TRY(const auto found, edges(truth, {.node = id, .filter = {.as_of = as_of}, .limit = kAll}));
  const FragmentRange range{.until = as_of ? *as_of + 1 : kForever, .limit = kAll};
  // Most indexes have none: this spares a look-up for each edge.
  const bool has_fragments = truth.counters().fragments > 0;
  if (has_fragments) {
    KIN_TRY(about.fragments, truth.fragments(id, range));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Edges of a walk come without their summaries.
    KIN_TRY(const auto stored, truth.edge(found[i].id));
    about.edges.push_back(stored.value_or(StoredEdge{
        .edge = {.id = found[i].id, .until = found[i].until, .weight = found[i].weight}}));
    auto& said = about.edge_fragments.emplace_back();
    const bool again =
        i > 0 && found[i - 1].id.name == found[i].id.name && found[i - 1].id.to == found[i].id.to;
    if (again || !has_fragments) continue;
    KIN_TRY(said, truth.fragments(found[i].id, range));
  }
  return about;
}

}  // namespace kin::index
