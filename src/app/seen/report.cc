#include "app/seen/report.h"

#include <fmt/format.h>

#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"

namespace kin::app {
namespace {

using store::SeenStats;

std::uint64_t disk_bytes(const SeenStats& stats) {
  return stats.run_bytes + stats.filter_file_bytes + stats.log_bytes;
}

double per_id(std::uint64_t amount, const SeenStats& stats) {
  return stats.ids == 0 ? 0 : static_cast<double>(amount) / static_cast<double>(stats.ids);
}

std::string_view name_of(store::IdKind kind) {
  switch (kind) {
    case store::IdKind::kNumber: return "numbers";
    case store::IdKind::kText: return "text";
  }
  KIN_UNREACHABLE();
}

std::string filters(const SeenStats& stats) {
  std::string text = fmt::format("{}, {:.2f} bits per id in runs", format_bytes(stats.filter_bytes),
                                 stats.filter_bits_per_id);
  if (stats.resident_filter_bytes < stats.filter_bytes)
    text += fmt::format("; {} of them fit into memory", format_bytes(stats.resident_filter_bytes));
  return text;
}

}  // namespace

std::string to_json(const SeenOverview& overview) {
  const SeenStats& stats = overview.stats;
  JsonWriter json(2);
  json.begin_object().field("set", overview.name).field("kind", name_of(overview.kind));
  json.field("ids", stats.ids).field("recent_ids", stats.recent_ids);
  json.field("runs", stats.runs).field("pieces", stats.pieces);
  json.field("filter_bytes", stats.filter_bytes);
  json.field("resident_filter_bytes", stats.resident_filter_bytes);
  json.field("filter_bits_per_id", stats.filter_bits_per_id);
  json.field("memory_bytes", stats.memory_bytes).field("disk_bytes", disk_bytes(stats));
  json.field("run_bytes", stats.run_bytes).field("filter_file_bytes", stats.filter_file_bytes);
  json.field("log_bytes", stats.log_bytes).field("rebuilt_filters", stats.rebuilt_filters);
  json.field("filter_probes", stats.filter_probes).field("filter_passes", stats.filter_passes);
  json.field("filter_page_reads", stats.filter_page_reads).field("page_reads", stats.page_reads);
  json.field("hits", stats.hits).field("flushes", stats.flushes).field("merges", stats.merges);
  return json.field("merged_ids", stats.merged_ids).field("commits", stats.commits).end().take();
}

std::string to_table(const SeenOverview& overview) {
  const SeenStats& stats = overview.stats;
  std::string table;
  add_row(table, "set", fmt::format("{}, of {}", overview.name, name_of(overview.kind)));
  add_row(table, "ids",
          fmt::format("{}, {} of them recent: in the log, not yet in a run", with_commas(stats.ids),
                      with_commas(stats.recent_ids)));
  add_row(table, "runs",
          fmt::format("{} in {}", with_commas(stats.runs), counted(stats.pieces, "file")));
  add_row(table, "filters", filters(stats));
  add_row(table, "memory", format_bytes(stats.memory_bytes));
  add_row(table, "disk",
          fmt::format("{}: ids {}, filters {}, log {}; {:.2f} bytes per id",
                      format_bytes(disk_bytes(stats)), format_bytes(stats.run_bytes),
                      format_bytes(stats.filter_file_bytes), format_bytes(stats.log_bytes),
                      per_id(disk_bytes(stats), stats)));
  if (stats.rebuilt_filters > 0)
    add_row(table, "note",
            fmt::format("{} lost or damaged: rebuilt from the ids",
                        counted(stats.rebuilt_filters, "filter")));
  return table;
}

std::string to_json(const SeenVerified& verified) {
  JsonWriter json(2);
  json.begin_object().field("set", verified.name).field("whole", true);
  json.field("ids", verified.stats.ids).field("runs", verified.stats.runs);
  json.field("pieces", verified.stats.pieces).field("bytes", disk_bytes(verified.stats));
  json.field("rebuilt_filters", verified.stats.rebuilt_filters);
  return json.field("seconds", verified.seconds).end().take();
}

std::string to_words(const SeenVerified& verified) {
  const SeenStats& stats = verified.stats;
  std::string words =
      fmt::format("{} is intact: {} in {} and the log, {} read in {:.1f} s\n", verified.name,
                  counted(stats.ids, "id"), counted(stats.pieces, "file"),
                  format_bytes(disk_bytes(stats)), verified.seconds);
  if (stats.rebuilt_filters > 0)
    words += fmt::format(
        "{} lost or damaged; no id is missing, but look-ups are slower until the set "
        "is opened to add\n",
        counted(stats.rebuilt_filters, "filter"));
  return words;
}

}  // namespace kin::app
