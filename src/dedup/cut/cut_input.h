// Common input of the stages of cutting: the records, and how to read their units.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/cut/units.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "dedup/scan/sources.h"

namespace kin::dedup {

// Borrowed by every stage.
struct CutInput {
  data::Dataset& dataset;
  const DedupOptions& options;      // options.cut is set
  const RecordSet* keep = nullptr;  // the records kept so far; nothing: all records
  std::filesystem::path folder;     // for temporary files
  std::uint64_t spill_memory = 0;   // bytes of keys that may stay in memory
  std::uint64_t stage_memory = 0;   // working memory of a stage
  // Bytes for long texts, until check_text() has settled the number of threads.
  std::uint64_t text_room = ~std::uint64_t{0};
  StageWork* work = nullptr;  // counts what a stage has done
  // Called when a stage begins; its error ends the work.
  std::function<Status(const char* stage)> enter;
  // Called when the number of rows is known, before memory is used for each of them.
  std::function<Status(std::uint64_t rows)> check_rows;
  // Called after the first pass, unless `keep` is set, with the weight of the heaviest text
  // (long_texts.h). It may lower options.threads.
  std::function<Status(std::uint64_t weight)> check_text = {};
  // Set if a text was too long for text_room.
  std::atomic<bool>* met_too_long_text = nullptr;
  // Keeps so few bits of the windows' hashes that different texts have equal hashes; for tests of
  // the comparison.
  bool weak_hashes = false;
  // Gets the source of every record, unless `keep` is set: then an earlier stage has read them all.
  Sources* sources = nullptr;
  const std::atomic<bool>* stop = nullptr;  // true: end soon, with kCancelled
};

struct UnitScan {
  const RecordSet* only = nullptr;  // nothing: all records
  bool with_ids = false;            // column() fields.size() of the batch is the id
};

struct ScannedUnits {
  std::uint64_t rows = 0;           // of the inputs
  std::uint64_t heaviest_text = 0;  // its weight
};

// Called from several threads, worker < options.threads, with the units of one record.
using UnitVisitor =
    std::function<Status(const data::Batch& batch, std::size_t record, Units& units, int worker)>;

// Visits records in no particular order. Threads with long texts wait for one another.
Result<ScannedUnits> scan_units(const CutInput& input, const UnitScan& scan,
                                const UnitVisitor& visit);

}  // namespace kin::dedup
