// The first pass over the input: computes the keys of every record.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/hash.h"
#include "base/ids.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/scan/contains.h"
#include "dedup/scan/keep_order.h"
#include "dedup/scan/seen_ids.h"
#include "dedup/scan/sources.h"
#include "dedup/spill/record_table.h"
#include "dedup/spill/spill.h"
#include "store/kept_values.h"
#include "store/signature_store.h"

namespace kin::dedup {

// The parts of a run's memory while it scans. In bytes.
struct ScanBudget {
  std::uint64_t spills = 0;
  std::uint64_t signatures = 0;
};

struct ScanCounts {
  std::atomic<std::uint64_t> documents{0};
  std::atomic<std::uint64_t> text_bytes{0};
  std::atomic<std::uint64_t> input_bytes{0};
  std::atomic<std::uint64_t> without_text{0};   // null: kept, and compared with nothing
  std::atomic<std::uint64_t> without_words{0};  // compared exactly only; not at all if blank
  std::atomic<std::uint64_t> without_order{0};  // no value for --keep: others are preferred
  std::atomic<std::uint64_t> longest_text{0};   // text_weight() of the heaviest

  using Values = std::array<std::uint64_t, 7>;
  Values values() const {
    return {documents,     text_bytes,    input_bytes, without_text,
            without_words, without_order, longest_text};
  }
  void restore(const Values& saved) {
    documents = saved[0];
    text_bytes = saved[1];
    input_bytes = saved[2];
    without_text = saved[3];
    without_words = saved[4];
    without_order = saved[5];
    longest_text = saved[6];
  }
};

// The results of the first pass for later stages. Filled by scan_records() from several threads;
// read after that has returned.
struct Scan {
  // Works in `folder`; counts the records of each source in `sources`, which must outlive it.
  static Result<std::unique_ptr<Scan>> create(const DedupOptions& options, const ScanBudget& memory,
                                              const std::filesystem::path& folder,
                                              Sources& sources);

  Scan(const DedupOptions& options, const ScanBudget& memory, const std::filesystem::path& folder,
       Sources& sources_of_records);

  KeepOrder order;
  Sources& sources;
  Spill exact;   // HashRecord: the text itself
  Spill words;   // HashRecord: the shingles in order, equal for texts that differ in nothing that
                 // counts
  Spill bands;   // BandRecord
  Spill chunks;  // HashRecord: a chunk's hash
  std::unique_ptr<store::TieredSignatureStore> signatures;
  RecordTable<std::uint64_t> simhashes;  // 0: none
  // Records that are left out before anything is compared, and have no keys.
  enum LeftOut : std::uint8_t { kNotLeftOut, kSeenBefore, kContainsReference };
  RecordTable<std::uint8_t> left_out;
  std::unique_ptr<store::KeptValues> evidence;  // ContainEvidence, with --contains
  ScanCounts counts;
  std::atomic<bool> met_too_long_text{false};  // the reason why the scan failed
  StageWork* work = nullptr;                   // counts the work of the stages that use the scan
};

struct ScanPart {
  data::Position start;
  std::function<bool()> pause;
  const SeenIds* seen = nullptr;                  // nothing: ids are not looked up
  const ContainIndex* contains = nullptr;         // nothing: texts are not searched for references
  std::size_t reference_files = 0;                // the first files, which are not counted
  std::atomic<std::uint64_t>* records = nullptr;  // set to the number of records so far
  // The memory of all threads together for long texts. A text that needs more is an error
  // (kResourceExhausted).
  std::uint64_t text_room = std::uint64_t{1} << 30;
};

// Reads the records from `start` on and adds their keys to `scan`, until the end or until `pause`
// returns true. The same records in the same order give the same keys, whatever the threads. No
// column has to exist; ScanEnd::found says which ones did, in the order of columns_read().
Result<data::ScanEnd> scan_records(data::Dataset& dataset, const DedupOptions& options,
                                   const ScanPart& part, Scan& scan);

// The columns that decisions depend on: those of the text, and the one of --keep.
std::vector<std::string> columns_read(const DedupOptions& options);

// The words of a text, for SimHash.
sketch::ShingleOptions word_shingles(const DedupOptions& options);

// The hash that identifies texts: equal if all fields have the same bytes, or the same normalised
// bytes. A field that normalises to nothing is hashed as it is. Nothing if all fields are null. One
// thread only.
class ContentHasher {
 public:
  ContentHasher(std::size_t fields, std::optional<text::Normalization> normalization)
      : fields_(fields), normalization_(normalization) {}
  std::optional<Hash128> operator()(const data::Batch& batch, std::size_t record);

 private:
  std::string_view subject(std::string_view value);

  std::size_t fields_;
  std::optional<text::Normalization> normalization_;
  std::string normalized_;
  std::string framed_;
};

}  // namespace kin::dedup
