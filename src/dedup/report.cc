#include "dedup/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/version.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kLargeGroup = 1'000;
constexpr std::uint64_t kManySkipped = 100;  // one in so many records

void write_origins(JsonWriter& json, std::string_view key,
                   const std::vector<DedupReport::Origin>& origins, const DedupOptions& options) {
  json.key(key).begin_array();
  for (const auto& origin : origins) {
    json.begin_object().field("name", origin.name).field("documents", origin.documents);
    json.field("removed", origin.removed);
    if (options.skip_seen) json.field("seen", origin.seen);
    json.end();
  }
  json.end();
}

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& values) {
  json.key(key).begin_array();
  for (const std::string& value : values) json.value(value);
  json.end();
}

void write_options(JsonWriter& json, const DedupOptions& options) {
  json.key("options").begin_object();
  write_strings(json, "field", options.fields);
  json.field("by", by_of(options)).field("threshold", options.threshold);
  json.field("shingle", sketch::to_string(options.shingles));
  json.field("normalize", text::name_of(options.shingles.normalization));
  json.field("hashes", options.hashes);
  const auto banding = banding_of(options);
  json.field("bands", banding.ok() ? sketch::to_string(*banding) : "");
  json.field("verify", name_of(options.verification)).field("hamming", options.hamming);
  json.field("keep", to_string(options.keep)).field("group", name_of(options.grouping));
  json.field("threads", options.threads).field("max_memory", options.max_memory).end();
}

void write_groups(JsonWriter& json, const std::vector<DedupReport::Group>& groups) {
  json.key("largest_groups").begin_array();
  for (const auto& group : groups) {
    json.begin_object().field("kept_row_id", group.kept_row).key("kept_id");
    if (group.kept_id) {
      json.value(*group.kept_id);
    } else {
      json.null();
    }
    if (group.reference) json.field("reference", true);
    json.field("size", group.size).end();
  }
  json.end();
}

void write_work(JsonWriter& json, const DedupReport& report) {
  json.field("candidates", report.candidates).field("verified", report.verified);
  json.field("false_candidates", report.false_candidates).field("not_needed", report.not_needed);
  json.field("large_buckets", report.large_buckets).field("capped_buckets", report.capped_buckets);
  json.field("cold_reads", report.cold_reads).field("cold_read_errors", report.cold_read_errors);
  json.field("bytes_spilled", report.bytes_spilled);
  json.key("seconds_per_stage").begin_object();
  for (const auto& [stage, seconds] : report.stage_seconds) json.field(stage, seconds);
  json.end().field("seconds", report.seconds).field("peak_memory_bytes", report.peak_memory);
  json.field("input_bytes", report.input_bytes).field("text_bytes", report.text_bytes);
  json.field("mb_per_second", report.megabytes_per_second());
}

void write_cut(JsonWriter& json, const DedupReport& report) {
  const CutOptions& options = *report.options.cut;
  json.key("cut").begin_object().field("records", report.cut.records);
  json.field("emptied", report.cut.emptied).field("passages", report.cut.passages);
  json.field("bytes", report.cut.bytes).field("unverified", report.cut.unverified);
  json.field("log", report.cut.log).field("repeats", options.repeats);
  json.field("repeats_keep", options.keep_first ? "first" : "none");
  if (options.by_line()) {
    json.field("min_length", options.min_length);
    json.field("min_length_unit", options.min_in_words ? "words" : "characters");
  }
  json.end();
}

void write_against(JsonWriter& json, const DedupReport& report) {
  const DedupOptions& options = report.options;
  json.key("against").begin_object();
  write_strings(json, "files", report.against.files);
  json.field("records", report.against.records).field("removed", report.against.removed);
  if (options.contains) {
    json.field("contains", *options.contains).field("contains_words", options.contains_words);
    json.field("short", report.against.short_ones);
  }
  json.end();
}

void warn_of_losses(std::string_view kind, const std::vector<DedupReport::Origin>& origins,
                    std::vector<std::string>& warnings) {
  for (const auto& origin : origins) {
    const std::uint64_t compared = origin.documents - origin.seen;
    if (origin.removed * 2 <= compared) continue;
    warnings.push_back(fmt::format("{} {} loses {} of its {} {}records: more than half", kind,
                                   origin.name, origin.removed, compared,
                                   origin.seen > 0 ? "new " : ""));
  }
}

}  // namespace

std::string to_json(const DedupReport& report, int indent) {
  JsonWriter json(indent);
  json.begin_object();
  write_strings(json, "inputs", report.inputs);
  json.field("output", report.output).field("removed_output", report.removed_output);
  json.field("quarantine", report.quarantine);
  json.field("dry_run", report.dry_run).field("resumed", report.resumed);
  json.field("documents", report.documents)
      .field("kept", report.kept)
      .field("removed", report.removed);
  json.key("removed_by").begin_object();
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    if (report.options.detectors.has(method)) {
      json.field(name_of(method), report.removed_by[static_cast<std::size_t>(method)]);
    }
  }
  if (report.options.skip_seen) json.field("seen", report.seen());
  if (report.options.contains) json.field("contains", report.contained());
  if (report.options.cut) json.field("emptied", report.cut.emptied);
  json.end();
  if (report.options.cut) write_cut(json, report);
  if (!report.options.against.empty() || report.options.append) write_against(json, report);
  if (report.options.tag) json.field("tag", *report.options.tag);
  json.field("skipped", report.skipped);
  write_strings(json, "skipped_examples", report.skipped_messages);
  json.field("without_text", report.without_text).field("without_words", report.without_words);
  json.field("without_keep_value", report.without_order);
  json.field("linked", report.linked).field("groups", report.groups);
  write_groups(json, report.largest_groups);
  write_origins(json, "files", report.files, report.options);
  write_origins(json, "sources", report.sources, report.options);
  write_work(json, report);
  write_options(json, report.options);
  json.key("versions").begin_object().field("kindred", kVersion).field("report", 1);
  json.field("sketch", 1).end();
  write_strings(json, "warnings", report.warnings);
  write_strings(json, "notes", report.notes);
  json.end();
  return json.take();
}

void add_warnings(DedupReport& report) {
  if (report.skipped * kManySkipped > report.documents) {
    report.warnings.push_back(fmt::format(
        "{} of {} records could not be read: {:.1f} %{}", report.skipped, report.documents,
        100.0 * static_cast<double>(report.skipped) / static_cast<double>(report.documents),
        report.quarantine.empty() ? "" : " (they are in " + report.quarantine + ")"));
  }
  warn_of_losses("file", report.files, report.warnings);
  warn_of_losses("source", report.sources, report.warnings);
  for (const auto& group : report.largest_groups) {
    if (group.size <= kLargeGroup) continue;
    report.warnings.push_back(
        fmt::format("the group of row {} has {} records: look at it before you trust it "
                    "(kindred explain shows why two records are alike)",
                    group.kept_row, group.size));
  }
  if (report.against.short_ones > 0) {
    report.warnings.push_back(
        fmt::format("{} references have fewer than {} words: a record contains one if it has these "
                    "words in a row (leave short ones out, or use a smaller --contains-words)",
                    report.against.short_ones, report.options.contains_words));
  }
  if (report.capped_buckets > 0) {
    report.warnings.push_back(
        fmt::format("{} bands or SimHashes were shared by so many different records that not all "
                    "pairs were compared: some duplicates may stay (a template? try a larger "
                    "--shingle, or --by minhash)",
                    report.capped_buckets));
  }
  if (report.cold_read_errors > 0) {
    report.warnings.push_back(
        fmt::format("{} signatures could not be read back from disk: some duplicates may "
                    "stay (check the disk, or point --temp at another)",
                    report.cold_read_errors));
  }
  if (report.options.detectors.minhash && report.options.verification == Verification::kNone &&
      report.removed > 0) {
    report.warnings.push_back(
        "near-duplicates were removed without being verified (--verify none)");
  }
}

}  // namespace kin::dedup
