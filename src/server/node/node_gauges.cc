#include "server/node/node_gauges.h"

#include <algorithm>

namespace kin::server {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// The figures of one shard.
class Gauges {
 public:
  Gauges(const ShardFigures& shard, std::vector<Gauge>& all) : all_(all) {
    labels_.emplace_back("index", shard.index);
    if (!shard.shard.empty()) labels_.emplace_back("shard", shard.shard);
  }

  void add(const char* name, const char* help, double value) { add(name, help, value, {}); }
  void add(const char* name, const char* help, double value, const Labels& more) {
    Labels labels = labels_;
    labels.insert(labels.end(), more.begin(), more.end());
    all_.push_back({.name = name, .help = help, .labels = std::move(labels), .value = value});
  }
  void add(const char* name, const char* help, std::uint64_t value) {
    add(name, help, static_cast<double>(value));
  }

 private:
  Labels labels_;
  std::vector<Gauge>& all_;
};

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

void add_memory(const kv::StoreUsage& truth, Gauges& gauges) {
  const auto add = [&](const char* part, std::uint64_t bytes) {
    gauges.add("kindred_shard_memory_bytes",
               "Memory of a shard's truth: changes that are not in tables yet, tables' filters and "
               "indexes, pieces of tables that were read.",
               static_cast<double>(bytes), {{"part", part}});
  };
  add("write buffers", truth.write_buffer_bytes);
  add("table indexes", truth.table_index_bytes);
  add("block cache", truth.block_cache_bytes);
}

void add_contents(const ShardFigures& shard, Gauges& gauges) {
  if (!shard.stats) return;
  const index::ShardStats& stats = *shard.stats;
  gauges.add("kindred_shard_entities", "Entities in a shard.", stats.counters.entities);
  gauges.add("kindred_shard_edges", "Edges in a shard.", stats.counters.edges);
  gauges.add("kindred_shard_disk_bytes", "Bytes of a shard's truth on disk.",
             stats.truth.disk_bytes);
  add_memory(stats.truth, gauges);
  gauges.add("kindred_shard_text_bytes", "Bytes of a shard's text index.",
             std::uint64_t{stats.text_bytes});
  gauges.add("kindred_shard_last_lsn", "The last change of a shard.", stats.last_lsn);
  gauges.add("kindred_shard_checkpoint_lsn", "The change up to which a shard has a checkpoint.",
             stats.checkpoint_lsn);
  for (const auto& [partition, load] : shard.loads)
    gauges.add("kindred_partition_load",
               "Milliseconds of work for a partition in each second, over the last minutes.", load,
               {{"partition", std::to_string(static_cast<std::uint32_t>(partition))}});
}

void add_log(const LogFigures& log, Gauges& gauges) {
  const router::LogShipperStats& shipped = log.shipped;
  gauges.add("kindred_log_lag_bytes", "Bytes of changes that are not in the shipped log yet.",
             shipped.queued_bytes);
  gauges.add("kindred_log_lag_seconds",
             "Age of the oldest change that is not in the shipped log yet.", seconds(shipped.lag));
  gauges.add("kindred_log_position", "Batches of changes since the term began.", shipped.position);
  gauges.add("kindred_log_durable_position",
             "Batches since the term began that survive the machine.", shipped.durable);
  gauges.add("kindred_log_term", "The term of the shipped log.", shipped.term);
  gauges.add("kindred_log_objects", "Objects of the shipped log since the term began.",
             shipped.objects);
  gauges.add("kindred_log_bytes", "Bytes of these objects.", shipped.bytes);
  gauges.add("kindred_log_gaps", "Times that the queue of changes was dropped.", shipped.gaps);
  gauges.add("kindred_log_failures", "Calls of the object store that failed.",
             shipped.failures + log.snapshots.failures);
  gauges.add("kindred_log_deposed", "1 if another node has taken over the shard.",
             shipped.deposed ? 1.0 : 0.0);
  gauges.add("kindred_log_snapshot_position", "The log's object as of which there is a snapshot.",
             log.snapshots.position.number);
  gauges.add("kindred_log_snapshot_bytes", "Bytes of the newest snapshot.", log.snapshots.bytes);
}

void add_copy(const CopyFigures& copy, Gauges& gauges) {
  gauges.add("kindred_copy_role", "1, for what a copy of a shard does at the moment.", 1.0,
             {{"role", std::string(copy.role)}});
  gauges.add("kindred_copy_owner", "1 if this node answers as the owner of a shard.",
             copy.answers ? 1.0 : 0.0);
  gauges.add("kindred_copy_term", "The term of a shard's lease.", copy.term);
  gauges.add("kindred_copy_take_overs",
             "Times that this process took a shard over from another node.", copy.take_overs);
  gauges.add("kindred_copy_applied_term", "The term of the log's object that a copy applied last.",
             copy.applied.term);
  gauges.add("kindred_copy_applied_object",
             "The number of the log's object that a copy applied last.", copy.applied.number);
  if (copy.behind)
    gauges.add("kindred_copy_lag_seconds", "How old the state of a copy may be.",
               seconds(*copy.behind));
}

}  // namespace

std::vector<Gauge> gauges_of(const std::vector<ShardFigures>& shards) {
  std::vector<Gauge> all;
  for (const ShardFigures& shard : shards) {
    Gauges gauges(shard, all);
    add_contents(shard, gauges);
    if (shard.log) add_log(*shard.log, gauges);
    if (shard.copy) add_copy(*shard.copy, gauges);
  }
  // Those of one name come one after another.
  std::ranges::stable_sort(all, {}, &Gauge::name);
  return all;
}

}  // namespace kin::server
