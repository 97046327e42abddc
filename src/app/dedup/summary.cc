#include "app/dedup/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/words.h"
#include "base/memory.h"

namespace kin::app {
namespace {

using dedup::Method;

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format(
      "{}  ({:.1f} %)", with_commas(part),
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string removed_by(const dedup::DedupReport& report) {
  std::string text;
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    if (!report.options.detectors.has(method)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", name_of(method),
                        with_commas(report.removed_by[static_cast<std::size_t>(method)]));
  }
  if (report.options.skip_seen) {
    text += fmt::format("{}seen {}", text.empty() ? "" : ", ", with_commas(report.seen()));
  }
  if (report.options.contains) {
    text += fmt::format("{}contain a reference {}", text.empty() ? "" : ", ",
                        with_commas(report.contained()));
  }
  if (report.options.cut) {
    text += fmt::format("{}emptied {}", text.empty() ? "" : ", ", with_commas(report.cut.emptied));
  }
  return text;
}

std::string inputs_read(const std::vector<std::string>& inputs) {
  constexpr std::size_t kShown = 3;
  std::string text =
      fmt::format("{} {}: ", with_commas(inputs.size()), inputs.size() == 1 ? "file" : "files");
  for (std::size_t i = 0; i < std::min(kShown, inputs.size()); ++i)
    text += (i == 0 ? "" : ", ") + inputs[i];
  return text + (inputs.size() > kShown ? ", …" : "");
}

}  // namespace

std::string format_summary(const dedup::DedupReport& report) {
  std::string table;
  add_row(table, "read", inputs_read(report.inputs));
  add_row(table, "records", with_commas(report.documents));
  add_row(table, "kept", share(report.kept, report.documents));
  add_row(table, "removed",
          fmt::format("{}: {}", share(report.removed, report.documents), removed_by(report)));
  if (report.skipped > 0)
    add_row(table, "skipped",
            with_commas(report.skipped) + " that could not be read" +
                (report.quarantine.empty() ? "" : ", now in " + report.quarantine));
  if (report.without_order > 0)
    add_row(table, "without value",
            with_commas(report.without_order) +
                " have no value for --keep; records with one are preferred");
  if (report.groups > 0) {
    add_row(table, "groups",
            fmt::format(
                "{}, the largest of {}", with_commas(report.groups),
                with_commas(report.largest_groups.empty() ? 0 : report.largest_groups[0].size)));
  }
  if (report.linked > 0)
    add_row(table, "linked", with_commas(report.linked) + " share a chunk with another and stay");
  if (!report.options.against.empty()) {
    add_row(table, "against", fmt::format("{} references", with_commas(report.against.records)));
  }
  if (report.options.append) {
    add_row(table, "known",
            fmt::format("{} of earlier runs in {}", counted(report.against.records, "record"),
                        report.options.signature_store->string()) +
                (report.dry_run ? "" : fmt::format("; {} added", with_commas(report.kept))));
  }
  if (report.options.tag)
    add_row(table, "tagged", "removed records are in the output, with their columns");
  if (report.options.cut) {
    add_row(table, "cut",
            fmt::format("{} passages with {} out of {} records", with_commas(report.cut.passages),
                        format_bytes(report.cut.bytes), with_commas(report.cut.records)));
  }
  if (report.options.detectors.any())
    add_row(table, "compared",
            fmt::format("{} pairs: {} alike, {} not, {} not needed", with_commas(report.candidates),
                        with_commas(report.verified), with_commas(report.false_candidates),
                        with_commas(report.not_needed)));
  add_row(table, "took",
          fmt::format("{:.1f} s, {:.0f} MB/s, at most {} of memory", report.seconds,
                      report.megabytes_per_second(), format_bytes(report.peak_memory)));
  if (report.dry_run) {
    add_row(table, "written", "nothing: this was a dry run");
  } else {
    add_row(table, "output", report.output);
    if (!report.removed_output.empty()) add_row(table, "audit log", report.removed_output);
    if (!report.cut.log.empty()) add_row(table, "log of cuts", report.cut.log);
  }
  for (const std::string& note : report.notes) add_row(table, "note", note);
  return table;
}

std::string format_warnings(const dedup::DedupReport& report) {
  std::string lines;
  for (const std::string& warning : report.warnings)
    lines += fmt::format("kindred: warning: {}\n", warning);
  if (report.skipped == 0) return lines;
  lines += fmt::format("kindred: {} records could not be read and were skipped:\n",
                       with_commas(report.skipped));
  // There are usually many, and all of them would bury the summary.
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(kShown, report.skipped_messages.size()); ++i)
    lines += fmt::format("kindred:   {}\n", report.skipped_messages[i]);
  if (report.skipped > kShown)
    lines += fmt::format("kindred:   and {} more\n", with_commas(report.skipped - kShown));
  return lines;
}

}  // namespace kin::app
