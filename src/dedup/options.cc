#include "dedup/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "base/hash.h"

namespace kin::dedup {
namespace {

Error unknown(std::string_view what, std::string_view given, std::string_view known) {
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not a {} (use {})", given, what, known)};
}

std::vector<std::string_view> split(std::string_view list, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = list.find(separator);
    parts.push_back(list.substr(0, end));
    if (end == std::string_view::npos) return parts;
    list.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::kExact: return "exact";
    case Method::kMinHash: return "minhash";
    case Method::kSimHash: return "simhash";
    case Method::kChunk: return "chunk";
    case Method::kSeen: return "seen";
    case Method::kContains: return "contains";
  }
  KIN_UNREACHABLE();
}

bool Detectors::has(Method method) const {
  switch (method) {
    case Method::kExact: return exact;
    case Method::kMinHash: return minhash;
    case Method::kSimHash: return simhash;
    case Method::kChunk: return chunk;
    case Method::kSeen:
    case Method::kContains: return false;
  }
  KIN_UNREACHABLE();
}

Result<Detectors> parse_detectors(std::string_view list) {
  Detectors detectors{.exact = false, .minhash = false, .simhash = false, .chunk = false};
  for (const std::string_view name : split(list, ',')) {
    if (name == "exact") {
      detectors.exact = true;
    } else if (name == "minhash") {
      detectors.minhash = true;
    } else if (name == "simhash") {
      detectors.simhash = true;
    } else if (name == "chunk") {
      detectors.chunk = true;
    } else {
      return unknown("detector", name,
                     "any of exact, minhash, simhash, chunk, and one of lines, paragraphs, "
                     "substring:LENGTH, with commas between");
    }
  }
  return detectors;
}

std::string to_string(const Detectors& detectors) {
  std::vector<std::string_view> names;
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    if (detectors.has(method)) names.push_back(name_of(method));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

Status parse_by(std::string_view list, DedupOptions& options) {
  std::vector<std::string_view> others;
  options.cut.reset();
  for (const std::string_view name : split(list, ',')) {
    if (list == "none") break;
    KIN_TRY(const std::optional<CutOptions> cut, parse_cut(name));
    if (!cut) {
      others.push_back(name);
    } else if (options.cut) {
      return Error{Code::kInvalidArgument,
                   fmt::format("--by {}: one of lines, paragraphs and substring at a time (run "
                               "again over the output for another)",
                               list)};
    } else {
      options.cut = cut;
    }
  }
  options.detectors = {.exact = false, .minhash = false, .simhash = false, .chunk = false};
  if (others.empty()) return Done{};
  KIN_TRY(options.detectors, parse_detectors(fmt::format("{}", fmt::join(others, ","))));
  return Done{};
}

std::string by_of(const DedupOptions& options) {
  std::string list = to_string(options.detectors);
  if (!options.cut) return list.empty() ? "none" : list;
  return list + (list.empty() ? "" : ",") + to_string(*options.cut);
}

Result<KeepPolicy> parse_keep(std::string_view text) {
  using Kind = KeepPolicy::Kind;
  if (text == "first") return KeepPolicy{.kind = Kind::kFirst, .column = {}};
  if (text == "longest") return KeepPolicy{.kind = Kind::kLongest, .column = {}};
  const std::size_t colon = text.find(':');
  const std::string column(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  const std::string_view kind = text.substr(0, colon);
  if (!column.empty()) {
    if (kind == "newest") return KeepPolicy{.kind = Kind::kNewest, .column = column};
    if (kind == "oldest") return KeepPolicy{.kind = Kind::kOldest, .column = column};
    if (kind == "priority") return KeepPolicy{.kind = Kind::kPriority, .column = column};
  }
  return unknown("rule for what to keep", text,
                 "first, longest, newest:COLUMN, oldest:COLUMN or priority:COLUMN");
}

std::string to_string(const KeepPolicy& policy) {
  switch (policy.kind) {
    case KeepPolicy::Kind::kFirst: return "first";
    case KeepPolicy::Kind::kLongest: return "longest";
    case KeepPolicy::Kind::kNewest: return "newest:" + policy.column;
    case KeepPolicy::Kind::kOldest: return "oldest:" + policy.column;
    case KeepPolicy::Kind::kPriority: return "priority:" + policy.column;
  }
  KIN_UNREACHABLE();
}

Result<Grouping> parse_grouping(std::string_view text) {
  for (const Grouping grouping : {Grouping::kStar, Grouping::kComponents, Grouping::kStream}) {
    if (text == name_of(grouping)) return grouping;
  }
  return unknown("way to group", text, "star, components or stream");
}

std::string_view name_of(Grouping grouping) {
  switch (grouping) {
    case Grouping::kStar: return "star";
    case Grouping::kComponents: return "components";
    case Grouping::kStream: return "stream";
  }
  KIN_UNREACHABLE();
}

Result<Verification> parse_verification(std::string_view text) {
  for (const auto verification :
       {Verification::kExact, Verification::kEstimate, Verification::kNone}) {
    if (text == name_of(verification)) return verification;
  }
  return unknown("way to verify", text, "exact, estimate or none");
}

std::string_view name_of(Verification verification) {
  switch (verification) {
    case Verification::kExact: return "exact";
    case Verification::kEstimate: return "estimate";
    case Verification::kNone: return "none";
  }
  KIN_UNREACHABLE();
}

Status apply_preset(std::string_view name, DedupOptions& options) {
  using Unit = sketch::ShingleOptions::Unit;
  const auto shingle = [&](Unit unit, std::uint32_t size) {
    options.shingles.unit = unit;
    options.shingles.size = size;
  };
  const auto band = [&](std::uint32_t bands, std::uint32_t rows, std::uint32_t hashes) {
    options.banding = sketch::Banding{.bands = bands, .rows = rows};
    options.hashes = hashes;
  };
  const auto normalize = [&](text::Normalization how) { options.shingles.normalization = how; };
  if (name == "code") {  // programs: operators count, comments and white space do not
    shingle(Unit::kWord, 5);
    normalize(text::Normalization::kCode);
  } else if (name == "fineweb") {  // datatrove, as used for FineWeb
    normalize(text::Normalization::kFineweb);
    shingle(Unit::kWord, 5);
    band(14, 8, 112);
    options.threshold = 0.72;
    options.verification = Verification::kNone;
    options.grouping = Grouping::kComponents;
  } else if (name == "fastdedup") {
    normalize(text::Normalization::kStandard);
    shingle(Unit::kChar, 3);
    band(16, 8, 128);
    options.threshold = 0.8;
    options.verification = Verification::kEstimate;
    options.grouping = Grouping::kStream;
  } else if (name == "nemo") {  // NeMo Curator, which hashes characters as they are
    normalize(text::Normalization::kNone);
    shingle(Unit::kChar, 24);
    band(20, 13, 260);
    options.threshold = 0.8;
    options.verification = Verification::kNone;
    options.grouping = Grouping::kComponents;
  } else if (name == "slimpajama") {  // characters, and datasketch's "optimal" bands at 0.8
    normalize(text::Normalization::kSlimpajama);
    shingle(Unit::kChar, 13);
    band(9, 13, 128);
    options.threshold = 0.8;
    options.verification = Verification::kNone;
    options.grouping = Grouping::kComponents;
  } else {
    return unknown("preset", name, "code, fineweb, fastdedup, nemo or slimpajama");
  }
  return Done{};
}

Result<sketch::Banding> banding_of(const DedupOptions& options) {
  if (!options.banding) {
    return sketch::choose_banding(options.hashes, options.threshold, options.target_recall);
  }
  const auto [bands, rows] = *options.banding;
  if (bands == 0 || rows == 0 || std::uint64_t{bands} * rows > options.hashes) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} needs {} hashes, and there are {} (use --hashes {}, or fewer bands)",
                    sketch::to_string(*options.banding), std::uint64_t{bands} * rows,
                    options.hashes, std::uint64_t{bands} * rows)};
  }
  return *options.banding;
}

namespace {

Status validate_against(const DedupOptions& options) {
  const auto wrong = [](std::string message) {
    return Error{Code::kInvalidArgument, std::move(message)};
  };
  if (options.contains) {
    if (options.against.empty())
      return wrong("--contains needs the references (use --against FILE)");
    if (!(*options.contains > 0 && *options.contains <= 1))
      return wrong(fmt::format("--contains {} is not between 0 and 1", *options.contains));
    if (options.contains_words < 1 || options.contains_words > sketch::kMaxShingle) {
      return wrong(fmt::format("--contains-words {} is not between 1 and {}",
                               options.contains_words, sketch::kMaxShingle));
    }
    return Done{};
  }
  if (options.against.empty()) return Done{};
  if (options.skip_seen)
    return wrong("--against and --skip-seen cannot be combined (run one after the other)");
  if (options.cut) {
    return wrong(
        fmt::format("--against is about whole records, so it cannot be combined with --by "
                    "{} (run one after the other)",
                    to_string(*options.cut)));
  }
  return Done{};
}

Status validate_append(const DedupOptions& options) {
  if (!options.append) return Done{};
  const auto wrong = [](std::string message) {
    return Error{Code::kInvalidArgument, std::move(message)};
  };
  if (!options.signature_store)
    return wrong("--append needs the folder to append to (use --signature-store DIR)");
  const char* other = !options.against.empty()  ? "--against"
                      : options.skip_seen       ? "--skip-seen"
                      : options.detectors.chunk ? "--by chunk"
                      : options.cut             ? "--by lines, paragraphs or substring"
                                                : nullptr;
  if (other == nullptr) return Done{};
  return wrong(fmt::format("--append and {} cannot be combined (run one after the other)", other));
}

}  // namespace

Status validate(const DedupOptions& options) {
  const auto wrong = [](std::string message) {
    return Error{Code::kInvalidArgument, std::move(message)};
  };
  if (options.fields.empty()) return wrong("no field to compare (use --field text)");
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    return wrong(fmt::format("--threshold {} is not between 0 and 1", options.threshold));
  }
  if (options.hashes < 16 || options.hashes > 1024) {
    return wrong(fmt::format("--hashes {} is not between 16 and 1024", options.hashes));
  }
  if (options.hamming < 0 || options.hamming > 7) {
    return wrong(fmt::format("--hamming {} is not between 0 and 7", options.hamming));
  }
  if (options.grouping == Grouping::kStream && options.keep.kind != KeepPolicy::Kind::kFirst) {
    return wrong(
        fmt::format("--group stream keeps the first of each group, so --keep {} cannot hold "
                    "(use --group star)",
                    to_string(options.keep)));
  }
  if (options.skip_seen && !options.id_column) {
    return wrong("--skip-seen needs to know which column holds the ids (use --id COLUMN)");
  }
  KIN_RETURN_IF_ERROR(validate_against(options));
  KIN_RETURN_IF_ERROR(validate_append(options));
  if (options.tag && options.cut) {
    return wrong(
        fmt::format("--tag writes records as they are, so --by {} cannot cut them (run it "
                    "over the output)",
                    to_string(*options.cut)));
  }
  if (!options.cut && !removes_records(options)) {
    return wrong("--by none compares nothing (use it with --against FILE --contains 0.8)");
  }
  for (const std::string& field : options.fields) {
    if (!options.cut || field.find("[]") == std::string::npos) continue;
    return wrong(
        fmt::format("--by {} cannot cut texts out of the lists of --field {} (use a field "
                    "without [])",
                    to_string(*options.cut), field));
  }
  if (options.cut && options.cut->repeats < 2) {
    return wrong(fmt::format("--repeats {}: a repeated text occurs at least twice (use 2 or more)",
                             options.cut->repeats));
  }
  if (options.detectors.minhash) KIN_RETURN_IF_ERROR(banding_of(options));
  return Done{};
}

std::string describe(const DedupOptions& options) {
  std::string text =
      fmt::format("by={} field={} keep={} group={}", by_of(options), fmt::join(options.fields, "+"),
                  to_string(options.keep), name_of(options.grouping));
  if (options.exact_normalization) {
    text += fmt::format(" exact-on={}", text::name_of(*options.exact_normalization));
  }
  if (options.cut) text += " " + describe(*options.cut);
  const bool cuts_lines = options.cut && options.cut->by_line();
  if (options.detectors.minhash || options.detectors.simhash || cuts_lines) {
    text += fmt::format(" shingle={} normalize={}", sketch::to_string(options.shingles),
                        text::name_of(options.shingles.normalization));
  }
  if (options.detectors.minhash) {
    const auto banding = banding_of(options);
    text += fmt::format(" threshold={} hashes={} bands={} verify={}", options.threshold,
                        options.hashes, banding.ok() ? sketch::to_string(*banding) : "?",
                        name_of(options.verification));
  }
  if (options.detectors.simhash) text += fmt::format(" hamming={}", options.hamming);
  if (options.detectors.chunk) {
    text += fmt::format(" chunk={}:{}",
                        options.chunks.kind == sketch::ChunkOptions::Kind::kFixed ? "fixed" : "cdc",
                        options.chunks.size);
  }
  if (options.skip_seen) text += fmt::format(" skip-seen={}", options.skip_seen->string());
  if (!options.against.empty()) text += fmt::format(" against={}", fmt::join(options.against, ","));
  if (options.contains)
    text += fmt::format(" contains={}:{}", *options.contains, options.contains_words);
  if (options.append) text += " append";
  if (options.tag) text += fmt::format(" tag={}", *options.tag);
  return text;
}

std::uint64_t options_hash(const DedupOptions& options) {
  return hash64(fmt::format("{} id={} source={} signatures={}{} on-error={}", describe(options),
                            options.id_column.value_or(""), options.source_column.value_or(""),
                            options.signature_store.value_or("").string(),
                            options.append ? "+" : "",
                            options.on_error == data::OnError::kSkip ? "skip" : "fail"));
}

}  // namespace kin::dedup
