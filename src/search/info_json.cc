#include "search/info_json.h"

namespace kin::search {

void write_repeated(JsonWriter& json, std::string_view name,
                    const std::vector<RepeatedDocument>& documents) {
  json.key(name).begin_array();
  for (const RepeatedDocument& document : documents)
    json.begin_object()
        .field("id", document.id)
        .field("duplicate_of", document.duplicate_of)
        .field("similarity", document.similarity)
        .end();
  json.end();
}

void write_info_fields(JsonWriter& json, std::string_view name, const IndexInfo& info) {
  const IndexConfig& config = info.config;
  json.field("name", name).field("documents", info.stats.counters.entities);
  json.field("edges", info.stats.counters.edges).field("fragments", info.stats.counters.fragments);
  json.field("embed", config.embed.text()).field("dimension", info.dimension);
  json.field("distance", name_of(config.main.distance));
  json.field("dedup", config.dedup ? std::optional(name_of(config.dedup->action)) : std::nullopt);
  json.field("language", config.language);
  json.field("open", info.open).field("building", info.building);
  json.field("bytes", info.disk_bytes).key("modes").begin_array();
  // The modes that make sense for this index, the best one first.
  if (info.by_meaning) json.value("hybrid");
  json.value("text");
  if (info.by_meaning) json.value("vector");
  json.value("graph").end().key("spaces").begin_array();
  for (const index::SpaceStats& space : info.stats.spaces) {
    json.begin_object().field("name", space.name).field("vectors", space.vectors.vectors);
    json.field("pending", space.vectors.pending).field("cells", space.vectors.cells);
    json.field("memory", space.vectors.bytes).field("built", space.building).end();
  }
  json.end();
}

void write_info(JsonWriter& json, std::string_view name, const IndexInfo& info) {
  json.begin_object();
  write_info_fields(json, name, info);
  json.end();
}

void write_listed(JsonWriter& json, const ListedIndex& index) {
  // An index that cannot be read is listed all the same, so that it can be dropped.
  if (index.problem.empty()) {
    write_info(json, index.name, index.info);
  } else {
    json.begin_object().field("name", index.name).field("problem", index.problem).end();
  }
}

}  // namespace kin::search
