// Cuts repeated lines, paragraphs or passages out of the records of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/record_set.h"
#include "base/result.h"
#include "data/edits.h"
#include "dedup/cut/cut_input.h"
#include "dedup/cut/cutter.h"
#include "store/kept_values.h"

namespace kin::dedup {

struct CutCounts {
  std::atomic<std::uint64_t> records{0};     // with a cut
  std::atomic<std::uint64_t> emptied{0};     // records of which nothing is left
  std::atomic<std::uint64_t> passages{0};    // lines of the log
  std::atomic<std::uint64_t> bytes{0};       // of text
  std::atomic<std::uint64_t> unverified{0};  // equal hashes of different texts
};

// The cuts of each record. On disk, except for an index of 12 bytes per record with a cut.
class Cuts final : public data::RecordEdits {
 public:
  static Result<std::unique_ptr<Cuts>> create(const CutInput& input, std::uint64_t rows);

  // Records of which nothing is left.
  const RecordSet& emptied() const { return emptied_; }
  const CutCounts& counts() const { return counts_; }

  const std::vector<Column>& added() const override { return added_; }
  std::optional<Value> added_value(std::size_t, RecordId) const override { return {}; }
  const std::vector<std::string>& replaced() const override { return fields_; }
  Result<bool> replace(std::size_t column, RecordId record, std::string_view old,
                       std::string& text) const override;

  // Adds the cuts of a record; `log` are its lines. Thread-safe.
  Status add(RecordId record, const RecordCut& cut, const std::string& log);

  // Writes the log under a temporary name, a JSON object for each passage in the order of the
  // records: row_id, id, file, field, begin, end, text, duplicate_of_row_id, duplicate_of_id,
  // duplicate_of_file, duplicate_of_field, duplicate_of_begin, duplicate_of_end, method,
  // record_removed. Text minus all [begin, end) of a record and field is its new text; the numbers
  // are bytes of UTF-8.
  Status write_log(AtomicFile& file) const;

 private:
  Cuts() = default;

  std::vector<Column> added_;
  std::vector<std::string> fields_;
  std::unique_ptr<store::KeptValues> edits_;
  std::unique_ptr<store::KeptValues> log_;  // nothing: not wanted
  RecordSet touched_;
  RecordSet emptied_;
  CutCounts counts_;
};

struct CutOutcome {
  std::unique_ptr<Cuts> cuts;
  std::uint64_t rows = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t without_text = 0;
  std::uint64_t bytes_spilled = 0;
};

// Finds the cuts that options.cut asks for: in the records of `keep`, every window of `length`
// units that occurs at least `repeats` times. All units of such windows are cut except those of
// first occurrences, which stay whole (unless none is to stay). Every unit that is cut was compared
// with its reference. The result does not depend on threads or memory.
Result<CutOutcome> find_cuts(const CutInput& input);

}  // namespace kin::dedup
