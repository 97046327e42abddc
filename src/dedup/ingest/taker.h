// Makes fingerprints of records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "data/batch.h"
#include "dedup/ingest.h"
#include "dedup/known/sketcher.h"

namespace kin::dedup {

// A record that is about to be decided.
struct Taken {
  RecordId row = kNoRecord;
  std::string where;  // file and line, for messages and the log
  std::uint32_t file = 0;
  bool has_text = false;
  store::Fingerprint fingerprint;
};

// The columns that a scan reads for a job, in the order that RecordTaker expects.
std::vector<std::string> columns_of(const IngestJob& job, const DedupOptions& options);

// Sketches the records of batches on several threads. One thread only.
class RecordTaker {
 public:
  // Both must outlive it.
  RecordTaker(const IngestJob& job, const DedupOptions& options);

  // Appends the records of `batch`, in order, with `now` as the time they were made.
  Status take(const data::Batch& batch, WallTime now, std::vector<Taken>& taken);

 private:
  Taken take_one(KnownSketcher& sketcher, const data::Batch& batch, std::size_t record,
                 WallTime now) const;

  const IngestJob& job_;
  const DedupOptions& options_;
  std::vector<std::unique_ptr<KnownSketcher>> sketchers_;  // one a thread
};

}  // namespace kin::dedup
