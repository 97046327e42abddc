// Collects the skipped records of several threads.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/ids.h"
#include "data/dataset.h"

namespace kin::data {

// add() is thread-safe; the rest is for one thread, between scans.
class SkipLog {
 public:
  void add(RecordId row, std::string message);
  // Moves the added records to records().
  void settle();
  const SkippedRecords& records() const { return records_; }
  void restore(SkippedRecords records) { records_ = std::move(records); }
  // Covers only records that settle() has moved.
  bool contains(RecordId row) const;

 private:
  std::mutex mutex_;
  std::vector<std::pair<RecordId, std::string>> messages_;
  std::vector<RecordId> rows_;
  SkippedRecords records_;
};

}  // namespace kin::data
