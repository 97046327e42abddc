// Finds near-duplicates one record at a time, in bounded memory, for programs that decide as
// records arrive. (`kindred dedup` itself works in batches.)
//
//   auto deduplicator = *FuzzyDeduplicator::create({.threshold = 0.8});
//   if (deduplicator->process_record(id, text).duplicate) continue;
//   …
//   if (auto health = deduplicator->health(); !health.ok()) return health.error();
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/exact_deduplicator.h"
#include "sketch/banding.h"
#include "sketch/minhash.h"
#include "sketch/shingles.h"
#include "store/kept_values.h"
#include "store/lsh_index.h"
#include "store/signature_store.h"

namespace kin::dedup {

struct FuzzyDedupConfig {
  // Texts of at least this Jaccard similarity are duplicates, in (0, 1].
  double threshold = 0.8;
  sketch::ShingleOptions shingles = {};
  std::uint32_t hashes = sketch::kDefaultHashes;
  // Nothing: the banding that finds at least 99 % of the pairs at the threshold.
  std::optional<sketch::Banding> banding = std::nullopt;
  // The most signatures in memory: 128 bytes each with 128 hashes.
  std::uint64_t max_hot_signatures = 2'000'000;
  // The folder that keeps signatures and texts for the next create(). Nothing: they are temporary,
  // and removed with the object.
  std::optional<std::filesystem::path> signature_store_path = std::nullopt;
  std::optional<std::filesystem::path> temporary_parent = std::nullopt;
  // Keeps the texts on disk and decides by the exact similarity, so that no duplicate is below the
  // threshold. Otherwise the estimate decides.
  bool verify_exact = true;
  // The most candidates one record is compared with; more are counted in capped_queries.
  std::size_t max_candidates = 1'000;
  // How many signatures or texts may be unreadable before health() is an error.
  std::uint64_t cold_read_error_limit = 0;
  Disk* disk = &system_disk();
};

// The output of prepare_signature() and input of process_prepared().
struct PreparedSignature {
  std::vector<std::uint8_t> signature;   // compact
  std::vector<std::uint64_t> band_keys;  // none if the text has no shingles
  std::string text;                      // empty unless it is compared or kept
};

struct Match {
  RecordId id = kNoRecord;
  double similarity = 0;
  friend bool operator==(const Match&, const Match&) = default;
};

struct FuzzyDedupStats {
  std::uint64_t records = 0;           // processed
  std::uint64_t duplicates = 0;        // records that were duplicates
  std::uint64_t candidates = 0;        // pairs that shared a band
  std::uint64_t verified = 0;          // candidates that reach the threshold
  std::uint64_t false_candidates = 0;  // candidates that do not; others were not needed or read
  std::uint64_t capped_queries = 0;    // records that had more candidates than max_candidates
  std::uint64_t cold_read_errors = 0;  // signatures and texts that could not be read
  std::uint64_t write_errors = 0;      // records that could not be kept, so cannot be found
  std::uint64_t memory_bytes = 0;      // index, hot signatures, tables and buffers
  store::SignatureStoreStats signatures;
};

// Thread-safe. Calls of prepare_signature() and find_duplicates() run in parallel, calls of
// process_…() one at a time; "first" means the first of these calls.
//
// Callers get verdicts, not storage errors: a candidate that cannot be read is skipped, a record
// that cannot be written is not found later. Both are counted, and health() reports when there are
// too many.
class FuzzyDeduplicator {
 public:
  // Opens an existing store in signature_store_path, if it was made with the same shingles, hashes,
  // banding and verify_exact (kFailedPrecondition if not).
  static Result<std::unique_ptr<FuzzyDeduplicator>> create(const FuzzyDedupConfig& config);
  ~FuzzyDeduplicator();

  // The costly part of a verdict, for any number of threads. Bytes that are not UTF-8 are read as
  // Latin-1. A text without words is never a duplicate, and never has duplicates.
  PreparedSignature prepare_signature(std::string_view text) const;
  // Whether an earlier record is alike; if not, this one is remembered. If several are alike, the
  // one whose signature agrees most is named. A known id is compared, but not added again.
  Verdict process_prepared(RecordId id, PreparedSignature prepared);
  Verdict process_record(RecordId id, std::string_view text);
  // All remembered records that are alike, the most alike first. Does not add anything.
  std::vector<Match> find_duplicates(std::string_view text) const;

  std::uint64_t len() const;
  // The text of a remembered record, if verify_exact.
  Result<std::optional<std::string>> text_of(RecordId id) const;
  // Makes signature_store_path durable; the destructor does so too, but cannot report errors.
  Status flush();
  FuzzyDedupStats stats() const;
  // An error once cold-read errors pass the limit, or a record could not be kept.
  Status health() const;
  sketch::Banding banding() const { return banding_; }

 private:
  struct Counters {
    std::atomic<std::uint64_t> records = 0;
    std::atomic<std::uint64_t> duplicates = 0;
    std::atomic<std::uint64_t> candidates = 0;
    std::atomic<std::uint64_t> verified = 0;
    std::atomic<std::uint64_t> false_candidates = 0;
    std::atomic<std::uint64_t> write_errors = 0;
  };

  FuzzyDeduplicator(const FuzzyDedupConfig& config, sketch::Banding banding);
  Status open_stores();
  Status check_parameters() const;
  Status rebuild_index();
  std::size_t record_bytes() const;
  bool keeps_band_keys() const { return config_.signature_store_path.has_value(); }
  std::vector<std::uint64_t> shingle_set(std::string_view text) const;
  // Candidates worth an exact comparison, the highest estimate first.
  std::vector<Match> likely(const PreparedSignature& prepared) const;
  std::vector<Match> estimates(const PreparedSignature& prepared,
                               std::span<const RecordId> ids) const;
  // Up to `most` of the likely() records that reach the threshold, in the same order.
  std::vector<Match> settle(const PreparedSignature& prepared, std::size_t most) const;
  void remember(RecordId id, const PreparedSignature& prepared);
  Status keep(RecordId id, const PreparedSignature& prepared);
  std::unique_ptr<sketch::Shingler> borrow_shingler() const;
  void give_back(std::unique_ptr<sketch::Shingler> shingler) const;

  const FuzzyDedupConfig config_;
  const sketch::Banding banding_;
  const sketch::MinHasher hasher_;
  mutable std::shared_mutex mutex_;
  store::LshIndex index_;
  std::unique_ptr<store::TieredSignatureStore> signatures_;
  std::unique_ptr<store::KeptValues> texts_;  // null unless verify_exact
  mutable Counters counters_;
  mutable std::mutex shinglers_mutex_;
  mutable std::vector<std::unique_ptr<sketch::Shingler>> shinglers_;
  mutable std::mutex failure_mutex_;
  std::optional<Error> write_failure_;  // the first
};

}  // namespace kin::dedup
