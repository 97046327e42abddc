// The options of a deduplication run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/cut_options.h"
#include "sketch/banding.h"
#include "sketch/chunks.h"
#include "sketch/shingles.h"

namespace kin::dedup {

// Why a record is removed: the detector that found it, in the order in which detectors
// run; or kSeen: an earlier run had its id; or kContains: it contains a reference
// text.
enum class Method : std::uint8_t { kExact, kMinHash, kSimHash, kChunk, kSeen, kContains };
inline constexpr std::size_t kMethods = 6;
std::string_view name_of(Method method);

// The detectors to run.
struct Detectors {
  bool exact = true;
  bool minhash = true;
  bool simhash = false;
  bool chunk = false;

  bool has(Method method) const;  // false for kSeen and kContains, which are not detectors
  bool any() const { return exact || minhash || simhash || chunk; }
};
// "exact,minhash": any of exact, minhash, simhash, chunk.
Result<Detectors> parse_detectors(std::string_view list);
std::string to_string(const Detectors& detectors);

// The record of a group that stays.
struct KeepPolicy {
  enum class Kind { kFirst, kLongest, kNewest, kOldest, kPriority };
  Kind kind = Kind::kFirst;
  std::string column;  // for kNewest, kOldest and kPriority

  bool needs_column() const { return kind != Kind::kFirst && kind != Kind::kLongest; }
};
// "first", "longest", "newest:COLUMN", "oldest:COLUMN", "priority:COLUMN".
Result<KeepPolicy> parse_keep(std::string_view text);
std::string to_string(const KeepPolicy& policy);

// How pairs become groups.
enum class Grouping {
  kStar,        // a record goes only if it was verified against the record that stays
  kComponents,  // transitive: one record of each connected component stays
  kStream,      // first wins, in input order
};
Result<Grouping> parse_grouping(std::string_view text);
std::string_view name_of(Grouping grouping);

// How a candidate pair is verified.
enum class Verification {
  kExact,     // the exact Jaccard similarity of the shingles
  kEstimate,  // the similarity estimated from the signatures
  kNone,      // sharing one band is enough, as some other tools do it
};
Result<Verification> parse_verification(std::string_view text);
std::string_view name_of(Verification verification);

struct DedupOptions {
  std::vector<std::string> fields{"text"};
  // Texts of the store that a run uses may come from columns with other names.
  bool other_fields = false;
  std::optional<std::string> id_column;  // nothing: "id" where there is such a column

  std::optional<std::string> source_column;  // nothing: "source" where there is such a column

  // A seen set: records whose id it has are left out before anything is compared; after the run it
  // has the ids of all records that were read. Needs an id column.
  std::optional<std::filesystem::path> skip_seen;

  // References: paths and globs of records that the inputs are compared with. References always
  // stay, and are never written.
  std::vector<std::string> against;
  // Nothing: inputs that are duplicates of a reference are removed. Otherwise inputs that contain
  // at least this share of a reference's runs of `contains_words` words are removed.
  std::optional<double> contains;
  std::uint32_t contains_words = 8;
  // Nothing: records are removed. Otherwise all are written, with columns of this prefix that tell
  // which ones would be removed.
  std::optional<std::string> tag;

  Detectors detectors;
  // Nothing: records are kept or removed whole. Otherwise repeated passages are cut out of the
  // records that the detectors keep.
  std::optional<CutOptions> cut;
  double threshold = 0.8;
  sketch::ShingleOptions shingles;
  // Nothing: exact and chunk compare the text as it is. (MinHash and SimHash use `shingles`.)
  std::optional<text::Normalization> exact_normalization;
  std::uint32_t hashes = 128;
  std::optional<sketch::Banding> banding;  // nothing: chosen from threshold and target_recall
  double target_recall = 0.99;
  Verification verification = Verification::kExact;
  int hamming = 3;
  sketch::ChunkOptions chunks;
  KeepPolicy keep;
  Grouping grouping = Grouping::kStar;

  // Reads inputs and references that are addresses ("s3://…"). Nothing: they are refused. Borrowed.
  data::RemoteFiles* remote = nullptr;

  int threads = 0;  // 0: as many as there are cores
  std::uint64_t max_memory = std::uint64_t{3} << 29;
  std::optional<std::filesystem::path> temporary_folder;  // nothing: beside the output
  std::optional<std::uint64_t> max_hot_signatures;
  std::optional<std::filesystem::path> signature_store;
  // The signature store is that of earlier runs: inputs that duplicate records which those kept are
  // removed, and the records that this run keeps are added (dedup/known/records.h).
  bool append = false;
  double cold_read_error_limit = 0.0001;  // share of unreadable signatures that fails the run
  data::OnError on_error = data::OnError::kFail;
  bool dry_run = false;
  bool resume = false;
  double checkpoint_seconds = 30;
};

// Sets detectors and cut from a list such as "exact,minhash" or "exact,lines", or from "none".
Status parse_by(std::string_view list, DedupOptions& options);
// The list that parse_by() reads.
std::string by_of(const DedupOptions& options);

// Whether records are compared as wholes or looked up, not only cut.
inline bool removes_records(const DedupOptions& options) {
  return options.detectors.any() || options.skip_seen || options.contains;
}

// "code" for programs, or options that reproduce another tool: "fineweb", "fastdedup", "nemo" or
// "slimpajama". Sets normalisation, sketching, banding, verification and grouping, and nothing
// else.
Status apply_preset(std::string_view name, DedupOptions& options);

// The banding the run will use, checked against the number of hashes.
Result<sketch::Banding> banding_of(const DedupOptions& options);

// Refuses invalid combinations, with a remedy.
Status validate(const DedupOptions& options);

// Whether pairs of `method` are compared by their SimHashes, not by their texts.
inline bool decides_by_distance(Method method, const DedupOptions& options) {
  return method == Method::kSimHash && options.verification != Verification::kExact;
}
// The similarity that a pair of `method` has to reach.
inline double threshold_of(Method method, const DedupOptions& options) {
  return decides_by_distance(method, options) ? 1.0 - options.hamming / 64.0 : options.threshold;
}

// A hash of every option that can change what is removed. Two runs with the same value over the
// same inputs give the same result, whatever their threads and memory.
std::uint64_t options_hash(const DedupOptions& options);

// Every option that can change what is removed, as one readable line.
std::string describe(const DedupOptions& options);

}  // namespace kin::dedup
