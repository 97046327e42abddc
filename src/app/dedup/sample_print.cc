#include "app/dedup/sample_print.h"

#include <fmt/format.h>

#include "app/dedup/passages_print.h"
#include "app/words.h"
#include "base/json_writer.h"

namespace kin::app {
namespace {

using dedup::Method;
using dedup::SampleReport;

constexpr dedup::Method kShown[] = {Method::kExact, Method::kMinHash, Method::kSimHash,
                                    Method::kChunk};

std::string place_of(const SampleReport::Place& place) {
  std::string text = harmless(place.file);
  if (place.id) text += ", id " + harmless(*place.id);
  return text;
}

// Replaces white space by single blanks, so that an example is one paragraph.
std::string one_line(const std::string& text) {
  std::string line;
  bool blank = false;
  for (const char c : harmless(text)) {
    if (c == ' ') {
      blank = !line.empty();
      continue;
    }
    if (blank) line += ' ';
    blank = false;
    line += c;
  }
  return line;
}

std::string methods_of(const SampleReport& report) {
  std::string text;
  for (const Method method : kShown) {
    const std::uint64_t count = report.removed_by[static_cast<std::size_t>(method)];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", name_of(method), with_commas(count));
  }
  return text;
}

bool is_whole(const SampleReport& report) {
  return report.total_exact ? report.sampled >= report.total : false;
}

// The limits of a sample.
std::string caveat(const SampleReport& report) {
  if (is_whole(report)) return "The sample has all records: a run would remove the same.";
  return fmt::format(
      "A sample misses duplicates whose other copy is not in it: in all {}{} records the share is "
      "at least as high.",
      report.total_exact ? "" : "about ", with_commas(report.total));
}

}  // namespace

std::string format_sample(const SampleReport& report) {
  std::string text;
  add_row(text, "sampled",
          fmt::format("{} of {}{} records (seed {})", with_commas(report.sampled),
                      report.total_exact ? "" : "about ", with_commas(report.total), report.seed));
  add_row(text, "would go",
          fmt::format("{}  ({:.1f} %){}", with_commas(report.removed), 100 * report.share(),
                      methods_of(report)));
  add_row(text, "written", "nothing: this was a sample");
  text += "\n" + caveat(report) + "\n";
  std::size_t number = 0;
  for (const SampleReport::Example& example : report.examples) {
    text += fmt::format("\n{}. similarity {:.4f}, by {}\n", ++number, example.similarity,
                        name_of(example.method));
    text += fmt::format("   stays  {}\n   goes   {}\n", place_of(example.kept),
                        place_of(example.removed));
    text += fmt::format("   {}\n", one_line(format_passages(example.passages, false)));
  }
  if (!report.examples.empty())
    text += "\n[-words-] are only in the record that stays, {+words+} only in the one that goes.\n";
  return text;
}

std::string sample_json(const SampleReport& report) {
  JsonWriter json(2);
  json.begin_object().field("sampled", report.sampled).field("total", report.total);
  json.field("total_exact", report.total_exact).field("seed", report.seed);
  json.field("removed", report.removed).field("removed_share", report.share());
  json.key("removed_by").begin_object();
  for (const Method method : kShown)
    json.field(name_of(method), report.removed_by[static_cast<std::size_t>(method)]);
  json.end().key("examples").begin_array();
  const auto write_place = [&](std::string_view name, const SampleReport::Place& place) {
    json.key(name).begin_object().field("file", place.file).key("id");
    place.id ? json.value(*place.id) : json.null();
    json.end();
  };
  for (const SampleReport::Example& example : report.examples) {
    json.begin_object().field("method", name_of(example.method));
    json.field("similarity", example.similarity);
    write_place("kept", example.kept);
    write_place("removed", example.removed);
    json.key("passages").begin_array();
    for (const dedup::Passage& passage : example.passages) {
      const bool kept = passage.kind == dedup::Passage::Kind::kOnlyA;
      const bool shared = passage.kind == dedup::Passage::Kind::kShared;
      json.begin_object().field("in", shared ? "both" : kept ? "kept" : "removed");
      json.field("text", passage.text).end();
    }
    json.end().end();
  }
  json.end().field("options", describe(report.options)).field("note", caveat(report));
  return json.end().take();
}

}  // namespace kin::app
