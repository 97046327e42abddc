#include "app/search/index_report.h"

#include <fmt/format.h>

#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "search/info_json.h"

namespace kin::app {
namespace {

// There may be thousands; --json has them all.
constexpr std::size_t kShownRepeats = 10;

std::string vectors_in_words(const search::IndexInfo& info) {
  if (!info.config.has_vectors()) return "none";
  if (info.dimension == 0U) return fmt::format("{}, not learnt yet", info.config.embed.text());
  const std::string numbers = info.dimension ? fmt::format("{} numbers, ", *info.dimension) : "";
  return fmt::format("{}, {}{}{}", info.config.embed.text(), numbers,
                     search::name_of(info.config.main.distance),
                     info.building ? ", being rebuilt" : "");
}

std::string repeated_in_words(std::string_view what,
                              const std::vector<search::RepeatedDocument>& all) {
  if (all.empty()) return {};
  std::string words = fmt::format("{} {}:\n", with_commas(all.size()), what);
  for (std::size_t i = 0; i < std::min(all.size(), kShownRepeats); ++i)
    words += fmt::format("  {} repeats {} ({:.2f})\n", all[i].id, all[i].duplicate_of,
                         all[i].similarity);
  if (all.size() > kShownRepeats) words += "  … (all of them with --json)\n";
  return words;
}

}  // namespace

std::string to_json(const AddedReport& report) {
  JsonWriter json;
  json.begin_object().field("added", report.added).field("skipped", report.skipped);
  json.field("holds", report.holds);
  search::write_repeated(json, "refused", report.refused);
  search::write_repeated(json, "linked", report.linked);
  return json.end().take();
}

std::string to_words(const AddedReport& report) {
  std::string words = fmt::format("{} added; {} holds {}\n", with_commas(report.added), report.name,
                                  with_commas(report.holds));
  if (report.skipped > 0)
    words += fmt::format("{} invalid records skipped\n", with_commas(report.skipped));
  words += repeated_in_words("refused as near-duplicates", report.refused);
  words += repeated_in_words("linked as near-duplicates", report.linked);
  return words;
}

std::string to_json(const std::vector<ListedIndex>& indexes) {
  JsonWriter json;
  json.begin_object().key("indexes").begin_array();
  for (const ListedIndex& index : indexes) search::write_listed(json, index);
  return json.end().end().take();
}

std::string to_json(const ListedIndex& index) {
  JsonWriter json(2);
  search::write_listed(json, index);
  return json.take();
}

std::string to_table(const std::vector<ListedIndex>& indexes) {
  if (indexes.empty()) return "no indexes yet (kindred index create NAME)\n";
  std::string table;
  for (const ListedIndex& index : indexes) {
    if (!index.problem.empty()) {
      table += fmt::format("{:<20} ! {}\n", index.name, index.problem);
      continue;
    }
    table += fmt::format("{:<20} {:>12} documents {:>10}  vectors: {}\n", index.name,
                         with_commas(index.info.stats.counters.entities),
                         format_bytes(index.info.disk_bytes), vectors_in_words(index.info));
  }
  return table;
}

std::string to_words(const ListedIndex& index) {
  const search::IndexInfo& info = index.info;
  const index::ShardStats& stats = info.stats;
  std::string words;
  const auto line = [&](std::string_view what, const std::string& value) {
    words += fmt::format("  {:<22}{}\n", what, value);
  };
  words += index.name + "\n";
  line("documents", with_commas(stats.counters.entities));
  line("links", with_commas(stats.counters.edges));
  line("fragments", with_commas(stats.counters.fragments));
  line("vectors", vectors_in_words(info));
  for (const index::SpaceStats& space : stats.spaces)
    line("  in " + space.name,
         fmt::format("{} in {} cells, {} not placed yet, {}", with_commas(space.vectors.vectors),
                     with_commas(space.vectors.cells), with_commas(space.vectors.pending),
                     format_bytes(space.vectors.bytes)));
  line("language", info.config.language);
  line("near-duplicates",
       info.config.dedup ? fmt::format("{} from {} on", search::name_of(info.config.dedup->action),
                                       info.config.dedup->threshold)
                         : "not detected");
  line("text", fmt::format("{} documents in {} segments, {}", with_commas(stats.text_documents),
                           stats.text_segments, format_bytes(stats.text_bytes)));
  line("on disk", format_bytes(info.disk_bytes));
  line("to replay on open",
       fmt::format("{} changes", with_commas(stats.last_lsn - stats.checkpoint_lsn)));
  return words;
}

std::string to_json(const std::string& name, const index::CheckReport& report) {
  JsonWriter json;
  json.begin_object().field("index", name).field("documents", report.entities);
  json.field("edges", report.edges).field("fragments", report.fragments);
  json.field("text_documents", report.text_documents).field("vectors", report.vectors);
  json.key("faults").begin_array();
  for (const std::string& fault : report.faults) json.value(fault);
  return json.end().end().take();
}

std::string to_words(const std::string& name, const index::CheckReport& report) {
  if (report.faults.empty())
    return fmt::format(
        "{} is intact: {} documents, {} links, {} fragments; {} texts and {} vectors are the "
        "same when rebuilt\n",
        name, with_commas(report.entities), with_commas(report.edges),
        with_commas(report.fragments), with_commas(report.text_documents),
        with_commas(report.vectors));
  std::string words = fmt::format("{} is damaged:\n", name);
  for (const std::string& fault : report.faults) words += "  " + fault + "\n";
  return words;
}

}  // namespace kin::app
