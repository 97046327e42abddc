#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <mutex>

#include "app/command.h"
#include "app/dedup/flags.h"
#include "app/dedup/passages_print.h"
#include "app/options.h"
#include "app/print.h"
#include "app/remote_access.h"
#include "app/words.h"
#include "base/ascii.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/locked_folder.h"
#include "base/record_set.h"
#include "base/workers.h"
#include "data/dataset.h"
#include "dedup/explain.h"
#include "dedup/record_text.h"
#include "text/words.h"

namespace kin::app {
namespace {

using dedup::Passage;

constexpr const char* kExamples = R"(
Examples:
  kindred explain corpus.parquet 17 90412
  kindred explain news.jsonl 3 8 --field title,body --threshold 0.7
  kindred explain 'shards/*.jsonl' 17 90412
  kindred explain news.jsonl --id url https://a.example/1 https://b.example/2
  kindred explain draft.txt final.txt --json

Rows count from 0 over all inputs: row_id and duplicate_of_row_id in the audit log of dedup. With --id,
or if they are not numbers, records are named by their ids instead (column id, or that of --id). In the
passages, [-words-] are only in the first text and {+words+} only in the second.)";

struct ExplainArguments {
  std::vector<std::string> what;
  DedupFlags flags;
  bool full = false;
  bool json = false;
};

struct Pair {
  std::string name_a;
  std::string name_b;
  std::string a;
  std::string b;
};

Result<std::string> read_text(const std::string& path) {
  KIN_TRY(std::string text, read_file(path));
  if (text::is_valid_utf8(text)) return text;
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not UTF-8 text (convert it first, e.g. with iconv)", path)};
}

Result<Pair> read_files(const std::string& a, const std::string& b) {
  Pair pair{.name_a = a, .name_b = b, .a = {}, .b = {}};
  KIN_TRY(pair.a, read_text(a));
  KIN_TRY(pair.b, read_text(b));
  return pair;
}

std::optional<RecordId> parse_row(const std::string& text) {
  const auto row = parse_number<std::uint32_t>(text);
  if (!row || record_id(*row) == kNoRecord) return {};
  return record_id(*row);
}

// The two requested records: rows, or ids of a column.
struct Wanted {
  std::array<std::string, 2> names;
  std::array<std::optional<RecordId>, 2> rows;  // both or none
  std::optional<std::string> id_column;         // if there are no rows
};

// Finds the texts of two records in a scan.
class RecordFinder {
 public:
  RecordFinder(const Wanted& wanted, std::size_t fields) : wanted_(wanted), fields_(fields) {}

  bool found_all() const { return found_[0] && found_[1]; }
  const std::string& first_missing() const { return wanted_.names[found_[0] ? 1 : 0]; }

  // Thread-safe.
  Status visit(const data::Batch& batch) {
    // Threads scan different parts of the input.
    const std::lock_guard lock(mutex_);
    std::string scratch;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (std::size_t which = 0; which < 2; ++which) {
        if (found_[which] || !is_wanted(batch, i, which)) continue;
        const auto text = dedup::text_of(batch, i, fields_, scratch);
        if (!text) {
          return Error{Code::kInvalidArgument,
                       fmt::format("{}: the record has no text (use --field)", batch.where(i))};
        }
        found_[which] = true;
        (which == 0 ? pair_.name_a : pair_.name_b) = fmt::format(
            "{} {} ({})", wanted_.id_column ? "id" : "row", wanted_.names[which], batch.where(i));
        (which == 0 ? pair_.a : pair_.b) = *text;
      }
    }
    return Done{};
  }

  Pair take() { return std::move(pair_); }

 private:
  bool is_wanted(const data::Batch& batch, std::size_t i, std::size_t which) const {
    if (!wanted_.id_column) return batch.row(i) == *wanted_.rows[which];
    return batch.value(fields_, i) == wanted_.names[which];
  }

  const Wanted& wanted_;
  const std::size_t fields_;
  std::mutex mutex_;
  std::array<std::atomic<bool>, 2> found_{};
  Pair pair_;
};

// A filter for the rows of `wanted`. It has a bit for every row, so for a row far behind the others
// it would take more memory than it saves time: nothing then.
std::optional<RecordSet> filter_of(const Wanted& wanted) {
  // 16 MiB of bits.
  constexpr std::size_t kMostFiltered = std::size_t{1} << 27;
  if (wanted.id_column) return {};
  const std::size_t last = row_number(std::max(*wanted.rows[0], *wanted.rows[1]));
  if (last >= kMostFiltered) return {};
  RecordSet rows(last + 1);
  for (const auto& row : wanted.rows) rows.insert(*row);
  return rows;
}

Result<Pair> read_records(std::span<const std::string> inputs, const Wanted& wanted,
                          const dedup::DedupOptions& options) {
  KIN_TRY(const LockedFolder folder, LockedFolder::create(options.temporary_folder));
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(inputs, folder.path(), nullptr, options.remote));
  const int threads = options.threads > 0 ? options.threads : available_cores();
  data::DatasetOptions dataset_options;
  dataset_options.threads = threads;
  dataset_options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), dataset_options));
  const std::optional<RecordSet> rows = filter_of(wanted);
  RecordFinder finder(wanted, options.fields.size());
  data::ScanOptions scan_options;
  scan_options.columns = options.fields;
  if (wanted.id_column) scan_options.columns.push_back(*wanted.id_column);
  // Other records may lack the columns: only the two wanted ones must have them.
  scan_options.optional_columns = scan_options.columns.size();
  scan_options.threads = threads;
  scan_options.on_error = options.on_error;
  if (rows) scan_options.only = &*rows;
  // Ends the scan early.
  scan_options.pause = [&] { return finder.found_all(); };
  KIN_TRY(const data::ScanEnd end, dataset->scan(scan_options, [&](const data::Batch& batch, int) {
    return finder.visit(batch);
  }));
  if (finder.found_all()) return finder.take();
  const std::string all = fmt::format("{}", fmt::join(inputs, ", "));
  if (wanted.id_column) {
    return Error{Code::kNotFound,
                 fmt::format("no record in {} has \"{}\" in column {} (name another with --id)",
                             all, finder.first_missing(), *wanted.id_column)};
  }
  return Error{Code::kNotFound,
               fmt::format("there is no row {} in {}: it has {} rows, counted from 0",
                           finder.first_missing(), all, end.position.row)};
}

std::string equality(const dedup::Explanation& pair) {
  if (pair.identical) return "identical, byte for byte";
  if (pair.same_normalized) return "identical after normalisation, not byte for byte";
  if (pair.same_words) return "the same words in the same order, not byte for byte";
  return "not identical";
}

std::string bands(const dedup::Explanation& pair) {
  const std::string which = pair.matching_bands.empty()
                                ? ""
                                : fmt::format(" (number {})", fmt::join(pair.matching_bands, ", "));
  return fmt::format("{} of {} match{}; a pair this alike is a candidate with a chance of {:.2f} %",
                     pair.matching_bands.size(), pair.banding.bands, which,
                     100 * pair.candidate_probability);
}

std::string format_explanation(const Pair& texts, const dedup::Explanation& pair,
                               const dedup::DedupOptions& options, bool full) {
  std::string table = pair.verdict + "\n\n";
  add_row(table, "A", fmt::format("{}, {} bytes", texts.name_a, with_commas(texts.a.size())));
  add_row(table, "B", fmt::format("{}, {} bytes", texts.name_b, with_commas(texts.b.size())));
  add_row(table, "text", equality(pair));
  add_row(table, "similarity",
          fmt::format("{:.4f} exact, {:.4f} estimated (± {:.4f}); the threshold is {}",
                      pair.similarity, pair.estimate, pair.deviation, options.threshold));
  add_row(table, "shingles",
          fmt::format("{} shared, {} only in A, {} only in B ({})",
                      with_commas(pair.shared_shingles), with_commas(pair.only_a_shingles),
                      with_commas(pair.only_b_shingles), sketch::to_string(options.shingles)));
  if (pair.banding.bands > 0) add_row(table, "bands", bands(pair));
  add_row(table, "SimHash", fmt::format("{} of 64 bits differ", pair.simhash_distance));
  add_row(table, "chunks",
          fmt::format("{} shared, of {} in A and {} in B", pair.shared_chunks, pair.chunks_a,
                      pair.chunks_b));
  if (pair.passages.empty()) return table;
  return table + "\n" + format_passages(pair.passages, full) + "\n";
}

std::string explanation_json(const Pair& texts, const dedup::Explanation& pair,
                             const dedup::DedupOptions& options) {
  JsonWriter json(2);
  json.begin_object().field("a", texts.name_a).field("b", texts.name_b);
  json.field("verdict", pair.verdict).field("duplicates", pair.found_by.has_value());
  json.key("method");
  pair.found_by ? json.value(name_of(*pair.found_by)) : json.null();
  json.field("identical", pair.identical).field("identical_normalized", pair.same_normalized);
  json.field("same_words", pair.same_words);
  json.field("similarity", pair.similarity).field("estimate", pair.estimate);
  json.field("estimate_deviation", pair.deviation).field("threshold", options.threshold);
  json.field("shingle", sketch::to_string(options.shingles));
  json.field("shared_shingles", pair.shared_shingles);
  json.field("only_a_shingles", pair.only_a_shingles);
  json.field("only_b_shingles", pair.only_b_shingles);
  json.field("bands", pair.banding.bands).field("rows", pair.banding.rows);
  json.key("matching_bands").begin_array();
  for (const std::uint32_t band : pair.matching_bands) json.value(band);
  json.end().field("candidate_probability", pair.candidate_probability);
  json.field("simhash_distance", pair.simhash_distance);
  json.field("chunks_a", pair.chunks_a).field("chunks_b", pair.chunks_b);
  json.field("shared_chunks", pair.shared_chunks).key("passages").begin_array();
  for (const Passage& passage : pair.passages) {
    json.begin_object().field("kind", kind_name(passage.kind)).field("words", passage.words);
    json.field("text", passage.text).end();
  }
  return json.end().end().take();
}

Error usage(std::string message) {
  return {Code::kInvalidArgument, std::move(message)};
}

// Arguments are two text files, or inputs and two records. Wrong usage gives an exit code.
Result<int> run_explain_command(const ExplainArguments& arguments, Verb verb) {
  auto options = understand_pairs(arguments.flags);
  if (!options) return wrong_usage(options.error(), verb);
  const std::vector<std::string>& what = arguments.what;
  if (what.size() < 2)
    return wrong_usage(usage("name two text files, or a dataset and two rows or ids"), verb);

  const bool records = what.size() > 2;
  const auto remote = RemoteAccess::for_inputs(*options, what);
  // A dataset here means that the records were forgotten.
  if (!records && (data::file_type(what[0]).ok() || data::file_type(what[1]).ok())) {
    return wrong_usage(
        usage("a dataset needs two rows or ids, e.g. kindred explain news.jsonl 3 8"), verb);
  }
  Wanted wanted{.names = {what[what.size() - 2], what[what.size() - 1]},
                .rows = {parse_row(what[what.size() - 2]), parse_row(what[what.size() - 1])},
                .id_column = options->id_column};
  if (!wanted.rows[0] || !wanted.rows[1]) wanted.id_column = options->id_column.value_or("id");
  KIN_TRY(const Pair texts,
          records ? read_records(std::span(what).first(what.size() - 2), wanted, *options)
                  : read_files(what[0], what[1]));
  KIN_TRY(const dedup::Explanation pair, dedup::explain(texts.a, texts.b, *options));
  return print_result(arguments.json ? explanation_json(texts, pair, *options) + "\n"
                                     : format_explanation(texts, pair, *options, arguments.full));
}

}  // namespace

Command add_explain_command(Verb app) {
  const Verb verb =
      app.add_subcommand("explain", "Show why two records or texts are, or are not, duplicates");
  verb.footer(kExamples);
  const auto arguments = std::make_shared<ExplainArguments>();
  verb.add_option("WHAT", arguments->what, "INPUT... and two rows or ids, or two text files")
      .required()
      .type_name("");
  verb.add_flag("--full", arguments->full, "Do not shorten the passages that both texts have");
  add_dedup_flags(verb, arguments->flags);
  verb.add_flag("--json", arguments->json, "Print everything as JSON");
  return {verb, [arguments, verb] { return run_explain_command(*arguments, verb); }};
}

}  // namespace kin::app
