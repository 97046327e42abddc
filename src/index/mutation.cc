#include "index/mutation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "index/truth/entity_format.h"

namespace kin::index {
namespace {

// Every shard keeps all names in memory.
constexpr std::size_t kMaxNameBytes = 1'024;
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

Error refused(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}

Status check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return refused(fmt::format("the name of {} is empty", what));
  if (name.size() > kMaxNameBytes)
    return refused(fmt::format("the name of {} is longer than {} bytes", what, kMaxNameBytes));
  return Done{};
}

Status check_text(std::string_view what, std::string_view text) {
  if (text.size() <= kMaxTextBytes) return Done{};
  return refused(fmt::format("{} is longer than {} bytes", what, kMaxTextBytes));
}

Status check_period(const Validity& valid) {
  if (valid.from < valid.until) return Done{};
  return refused("a period must end after it begins");
}

Status check_vector(const SpaceVector& vector) {
  KIN_RETURN_IF_ERROR(check_name("an embedding space", vector.space));
  if (vector.values.empty() || vector.values.size() > kMaxDimensions)
    return refused(fmt::format("a vector must have from 1 to {} numbers", kMaxDimensions));
  const bool finite = std::all_of(vector.values.begin(), vector.values.end(),
                                  [](float value) { return std::isfinite(value); });
  if (finite) return Done{};
  return refused(
      fmt::format("a vector of the space {} has a number that is not finite", vector.space));
}

// An entity has few vectors, so comparing all pairs is cheaper than a set.
Status check_once(const Entity& entity) {
  for (std::size_t i = 1; i < entity.vectors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (entity.vectors[i].space == entity.vectors[j].space)
        return refused(
            fmt::format("the entity has two vectors of the space {}", entity.vectors[i].space));
    }
  }
  return Done{};
}

}  // namespace

Status check_entity(const Entity& entity) {
  if (entity.key.empty()) return refused("the entity has no key");
  KIN_RETURN_IF_ERROR(check_text("the key", entity.key));
  KIN_RETURN_IF_ERROR(check_text("the title", entity.title));
  KIN_RETURN_IF_ERROR(check_text("the text", entity.text));
  KIN_RETURN_IF_ERROR(check_period(entity.valid));
  if (entity.source.size() > kMaxNameBytes)
    return refused(fmt::format("the source is longer than {} bytes", kMaxNameBytes));
  for (const Attribute& attribute : entity.attributes)
    KIN_RETURN_IF_ERROR(check_name("an attribute", attribute.name));
  for (const SpaceVector& vector : entity.vectors) KIN_RETURN_IF_ERROR(check_vector(vector));
  return check_once(entity);
}

Status check_edge_name(std::string_view name) {
  return check_name("an edge", name);
}

Status check_edge(const Edge& edge) {
  KIN_RETURN_IF_ERROR(check_edge_name(edge.id.name));
  KIN_RETURN_IF_ERROR(check_text("the summary of an edge", edge.summary));
  if (!std::isfinite(edge.weight)) return refused("the weight of an edge is not finite");
  return check_period({.from = edge.id.since, .until = edge.until});
}

Status check_fragment(const Fragment& fragment) {
  return check_text("a fragment", fragment.text);
}

namespace {

struct Check {
  Status operator()(const PutEntity& put) const { return check_entity(put.entity); }
  Status operator()(const RemoveEntity&) const { return Done{}; }
  Status operator()(const AssignPartition&) const { return Done{}; }
  Status operator()(const AssignOwner&) const { return Done{}; }
  Status operator()(const PutEdge& put) const { return check_edge(put.edge); }
  Status operator()(const CloseEdge& close) const { return check_edge_name(close.name); }
  Status operator()(const RemoveEdge& remove) const { return check_edge_name(remove.edge.name); }
  Status operator()(const AddFragment& add) const { return check_fragment(add.fragment); }
  Status operator()(const AddEdgeFragment& add) const {
    KIN_RETURN_IF_ERROR(check_edge_name(add.name));
    return check_fragment(add.fragment);
  }
  Status operator()(const SetEdges& set) const {
    KIN_RETURN_IF_ERROR(check_edge_name(set.name));
    std::set<EdgeId> ids;
    for (const Edge& edge : set.edges) {
      KIN_RETURN_IF_ERROR(check_edge(edge));
      if (edge.id.from != set.from || edge.id.name != set.name)
        return refused(
            fmt::format("an edge of the set \"{}\" has another name or start", set.name));
      if (!ids.insert(edge.id).second)
        return refused(fmt::format("an edge is twice in the set \"{}\"", set.name));
    }
    return Done{};
  }
};

}  // namespace

Status check(const Mutation& mutation) {
  return std::visit(Check{}, mutation);
}

}  // namespace kin::index
