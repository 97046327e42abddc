#include "app/dedup/flags.h"

#include <fmt/format.h>

#include "app/checks.h"
#include "app/options.h"
#include "base/ascii.h"
#include "base/memory.h"

namespace kin::app {
namespace {

template <typename T>
Status parse_number(const std::optional<std::string>& text, const char* flag, T& into) {
  if (!text) return Done{};
  const auto number = kin::parse_number<T>(*text);
  if (!number)
    return Error{Code::kInvalidArgument, fmt::format("{} {}: that is not a number", flag, *text)};
  into = *number;
  return Done{};
}

// Parses a flag. If it was not given, `into` keeps the preset's value.
template <typename T, typename Parse>
Status parse_given(const std::optional<std::string>& text, const Parse& parse, T& into) {
  if (!text) return Done{};
  KIN_TRY(into, parse(*text));
  return Done{};
}

// "fixed:512" or "cdc:2048".
Result<sketch::ChunkOptions> parse_chunk(const std::string& text) {
  sketch::ChunkOptions chunks;
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (kind == "cdc") chunks.kind = sketch::ChunkOptions::Kind::kContentDefined;
  const std::string size = colon == std::string::npos ? "" : text.substr(colon + 1);
  const Status parsed = parse_number(std::optional(size), "--chunk", chunks.size);
  if ((kind != "fixed" && kind != "cdc") || !parsed.ok() || chunks.size < 16 ||
      chunks.size > (1 << 24)) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("--chunk {}: use fixed:CHARACTERS or cdc:BYTES, from 16 on, e.g. fixed:512",
                    text)};
  }
  return chunks;
}

// Names separated by commas, as in CSV: a name in double quotes may contain commas, and double
// quotes written twice.
Result<std::vector<std::string>> parse_fields(const std::vector<std::string>& lists) {
  std::vector<std::string> fields;
  for (const std::string& list : lists) {
    for (std::size_t at = 0; at <= list.size(); ++at) {
      std::string name;
      const bool quoted = at < list.size() && list[at] == '"';
      bool closed = !quoted;
      if (quoted) ++at;
      for (; at < list.size(); ++at) {
        if (quoted && list[at] == '"' && !(at + 1 < list.size() && list[at + 1] == '"')) {
          closed = true;
          ++at;
          break;
        }
        if (!quoted && list[at] == ',') break;
        if (quoted && list[at] == '"') ++at;
        name += list[at];
      }
      if (name.empty() || !closed || (at < list.size() && list[at] != ',')) {
        return Error{Code::kInvalidArgument,
                     fmt::format("--field {}: use NAME or NAME,NAME; a name with a comma goes in "
                                 "double quotes: --field '\"last, first\",body'",
                                 list)};
      }
      fields.push_back(std::move(name));
    }
  }
  return fields;
}

Status understand_sketch(const DedupFlags& flags, dedup::DedupOptions& options) {
  KIN_RETURN_IF_ERROR(parse_number(flags.threshold, "--threshold", options.threshold));
  KIN_RETURN_IF_ERROR(parse_number(flags.hashes, "--hashes", options.hashes));
  KIN_RETURN_IF_ERROR(parse_number(flags.hamming, "--hamming", options.hamming));
  if (flags.normalize) {
    KIN_TRY(options.shingles.normalization, text::parse_normalization(*flags.normalize));
    // Without the flag, exact and chunk compare bytes, whatever the normalisation of shingles.
    if (options.shingles.normalization != text::Normalization::kNone)
      options.exact_normalization = options.shingles.normalization;
  }
  if (flags.shingle) {
    KIN_TRY(options.shingles,
            sketch::parse_shingle(*flags.shingle, options.shingles.normalization));
  }
  if (flags.bands && *flags.bands == "auto") options.banding.reset();
  if (flags.bands && *flags.bands != "auto") {
    KIN_TRY(options.banding, sketch::parse_banding(*flags.bands));
  }
  KIN_RETURN_IF_ERROR(parse_given(flags.verify, dedup::parse_verification, options.verification));
  return parse_given(flags.chunk, parse_chunk, options.chunks);
}

Status understand_cut(const DedupFlags& flags, dedup::DedupOptions& options) {
  if (!options.cut) {
    const char* flag = flags.repeats        ? "--repeats"
                       : flags.min_length   ? "--min-length"
                       : flags.repeats_keep ? "--repeats-keep"
                                            : nullptr;
    if (flag == nullptr) return Done{};
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is for cutting (use it with --by lines, paragraphs or "
                             "substring:LENGTH)",
                             flag)};
  }
  KIN_RETURN_IF_ERROR(parse_number(flags.repeats, "--repeats", options.cut->repeats));
  if (flags.repeats_keep)
    KIN_RETURN_IF_ERROR(parse_repeats_keep(*flags.repeats_keep, *options.cut));
  if (!flags.min_length) return Done{};
  if (!options.cut->by_line()) {
    return Error{Code::kInvalidArgument,
                 "--min-length is for --by lines and paragraphs (a passage has the length of "
                 "--by substring:LENGTH)"};
  }
  return parse_min_length(*flags.min_length, *options.cut);
}

Status understand_against(const DedupFlags& flags, dedup::DedupOptions& options) {
  options.against = flags.against;
  options.tag = flags.tag;
  if (flags.contains) {
    options.contains.emplace();
    KIN_RETURN_IF_ERROR(parse_number(flags.contains, "--contains", *options.contains));
  }
  return parse_number(flags.contains_words, "--contains-words", options.contains_words);
}

Status understand_resources(const DedupFlags& flags, dedup::DedupOptions& options) {
  options.threads = flags.threads;
  KIN_RETURN_IF_ERROR(parse_given(flags.max_memory, parse_bytes, options.max_memory));
  constexpr std::uint64_t kLeast = std::uint64_t{128} << 20;
  if (options.max_memory < kLeast)
    return Error{Code::kInvalidArgument,
                 fmt::format("--max-memory {} is too little: a run needs at least 128MiB",
                             *flags.max_memory)};
  if (flags.temp) options.temporary_folder = *flags.temp;
  if (flags.max_hot_signatures) {
    std::uint64_t count = 0;
    KIN_RETURN_IF_ERROR(parse_number(flags.max_hot_signatures, "--max-hot-signatures", count));
    options.max_hot_signatures = count;
  }
  if (flags.signature_store) options.signature_store = *flags.signature_store;
  options.append = flags.append;
  return Done{};
}

void add_column_flags(Verb verb, DedupFlags& flags) {
  verb.group_options("What is read and compared");
  verb.add_option("--field", flags.fields,
                  "Column that holds the text; a.b reaches into objects, a[].b into the objects of "
                  "a list; several are joined, with commas between or each with a --field of its "
                  "own; a name with a comma goes in double quotes (default: text)")
      .no_extra_args()  // the next word is an input
      .type_name("COLUMN");
  verb.add_flag("--other-fields", flags.other_fields,
                "The store of --config or --append has texts of columns with other names, and they "
                "are of one kind with those of --field");
  verb.add_option("--id", flags.id,
                  "Column with the record's id, for the audit log (default: id, if there is one)")
      .type_name("COLUMN");
  verb.add_option("--source", flags.source,
                  "Column with the record's source: a source that loses more than half of "
                  "its records is reported (default: source, if there is one)")
      .type_name("COLUMN");
  with_choice(verb.add_option("--on-error", flags.on_error,
                              "What to do with a record that cannot be read: fail or skip")
                  .type_name("fail|skip"),
              {"fail", "skip"});
}

void add_detector_flags(Verb verb, DedupFlags& flags) {
  verb.group_options("What counts as a duplicate");
  verb.add_option(
          "--by", flags.by,
          "Detectors, in any combination: exact, minhash, simhash, chunk; and one of lines, "
          "paragraphs, substring:WORDS or substring:BYTESb, which cut repeated text out of "
          "records (default: exact,minhash)")
      .type_name("LIST");
  verb.add_option("--threshold", flags.threshold,
                  "Least Jaccard similarity of near-duplicates (default: 0.8)")
      .type_name("0..1");
  verb.add_option("--shingle", flags.shingle,
                  "Unit of comparison: word:N or char:N (default: word:5)")
      .type_name("UNIT:N");
  verb.add_option("--normalize", flags.normalize,
                  "none, light, standard, aggressive, code, fineweb or slimpajama (default: "
                  "standard; exact and "
                  "chunk compare bytes unless this is given)")
      .type_name("PRESET");
  verb.add_option("--hamming", flags.hamming,
                  "Bits in which two SimHashes may differ, 0 to 7 (default: 3)")
      .type_name("BITS");
  verb.add_option("--chunk", flags.chunk,
                  "Chunks of the chunk detector: fixed:CHARACTERS or cdc:BYTES (default: "
                  "fixed:512)")
      .type_name("KIND:N");
  verb.add_option(
          "--preset", flags.preset,
          "code: compare programs, without their comments and white space; or the settings of "
          "another tool, with its normalisation: fineweb, fastdedup, nemo or slimpajama")
      .type_name("NAME");
}

void add_minhash_flags(Verb verb, DedupFlags& flags) {
  verb.add_option("--hashes", flags.hashes, "MinHash values per record (default: 128)")
      .type_name("N");
  verb.add_option(
          "--bands", flags.bands,
          "BxR, or auto: the fewest candidates that find 99 % at the threshold (default: auto)")
      .type_name("BxR");
  verb.add_option("--verify", flags.verify,
                  "exact: compare texts; estimate: compare signatures; none (default: exact)")
      .type_name("HOW");
}

void add_grouping_flags(Verb verb, DedupFlags& flags) {
  verb.group_options("Which record stays");
  verb.add_option("--keep", flags.keep,
                  "Which record of a group is kept: first, longest, newest:COLUMN, oldest:COLUMN, "
                  "priority:COLUMN, where the greatest number is kept (default: first)")
      .type_name("RULE");
  verb.add_option("--group", flags.group,
                  "star: a record is removed only if it was verified against the kept one; "
                  "components: transitive; stream: first wins (default: star)")
      .type_name("HOW");
}

void add_resource_flags(Verb verb, DedupFlags& flags) {
  verb.group_options("Memory, threads and folders");
  verb.add_option("--threads", flags.threads, "Number of threads (default: one per core)")
      .type_name("N")
      .check(whole_number(0, 1024));
  verb.add_option("--max-memory", flags.max_memory, "Limit of resident memory (default: 1.5GiB)")
      .type_name("SIZE");
  verb.add_option("--temp", flags.temp, "Folder for temporary files (default: beside the output)")
      .type_name("DIR");
  verb.add_option(
          "--max-hot-signatures", flags.max_hot_signatures,
          "Signatures to hold in memory; the rest is on disk (default: what --max-memory allows)")
      .type_name("N");
  verb.add_option("--signature-store", flags.signature_store,
                  "Folder to keep the signatures in after the run")
      .type_name("DIR");
}

}  // namespace

void add_run_flags(Verb verb, DedupFlags& flags) {
  verb.group_options("References");
  verb.add_option("--against", flags.against,
                  "References: remove inputs that are duplicates of a record of FILE, which is "
                  "neither written nor changed; files or globs, repeatable")
      .no_extra_args()  // the next word is an input
      .type_name("FILE");
  verb.add_option("--contains", flags.contains,
                  "Remove inputs that contain at least this share of the word runs of a reference "
                  "of --against, such as a benchmark's questions")
      .type_name("0..1");
  verb.add_option("--contains-words", flags.contains_words, "Words in such a run (default: 8)")
      .type_name("N");
  verb.add_flag(
      "--append", flags.append,
      "Remove inputs that duplicate records which earlier runs kept in --signature-store, "
      "and add the records that this run keeps");
  verb.group_options("Marking and cutting instead of removing");
  verb.add_option(
          "--tag", flags.tag,
          "Write all records, with the columns PREFIXgroup, PREFIXkept, PREFIXsimilarity and "
          "PREFIXduplicates instead of removing any")
      .type_name("PREFIX");
  verb.add_option(
          "--repeats", flags.repeats,
          "Cut text that occurs at least N times (default: 2; with --by lines, paragraphs or "
          "substring)")
      .type_name("N");
  verb.add_option(
          "--repeats-keep", flags.repeats_keep,
          "first: the first occurrence stays; none: every occurrence is cut (default: first)")
      .type_name("WHAT");
  verb.add_option("--min-length", flags.min_length,
                  "Shorter lines and paragraphs are never cut: N characters, or Nw words (default: "
                  "20)")
      .type_name("N");
}

void add_dedup_flags(Verb verb, DedupFlags& flags) {
  add_column_flags(verb, flags);
  add_detector_flags(verb, flags);
  add_minhash_flags(verb, flags);
  add_grouping_flags(verb, flags);
  add_resource_flags(verb, flags);
  verb.group_options("Options");
}

Result<dedup::DedupOptions> understand(const DedupFlags& flags) {
  dedup::DedupOptions options;
  if (flags.preset) KIN_RETURN_IF_ERROR(dedup::apply_preset(*flags.preset, options));
  if (!flags.fields.empty()) {
    KIN_TRY(options.fields, parse_fields(flags.fields));
  }
  options.other_fields = flags.other_fields;
  options.id_column = flags.id;
  options.source_column = flags.source;
  if (flags.by) KIN_RETURN_IF_ERROR(dedup::parse_by(*flags.by, options));
  KIN_RETURN_IF_ERROR(understand_sketch(flags, options));
  KIN_RETURN_IF_ERROR(understand_cut(flags, options));
  KIN_RETURN_IF_ERROR(understand_against(flags, options));
  KIN_RETURN_IF_ERROR(parse_given(flags.keep, dedup::parse_keep, options.keep));
  KIN_RETURN_IF_ERROR(parse_given(flags.group, dedup::parse_grouping, options.grouping));
  KIN_RETURN_IF_ERROR(understand_resources(flags, options));
  options.on_error = flags.on_error == "skip" ? data::OnError::kSkip : data::OnError::kFail;
  KIN_RETURN_IF_ERROR(dedup::validate(options));
  return options;
}

Result<dedup::DedupOptions> understand_pairs(const DedupFlags& flags) {
  KIN_TRY(dedup::DedupOptions options, understand(flags));
  if (!options.cut) return options;
  return Error{Code::kInvalidArgument,
               fmt::format("--by {} is for kindred dedup: this verb is about whole records "
                           "(use exact, minhash, simhash or chunk)",
                           to_string(*options.cut))};
}

}  // namespace kin::app
