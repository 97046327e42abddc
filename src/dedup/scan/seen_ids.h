// The seen set of --skip-seen: looks ids up, and adds those of this run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "dedup/progress.h"
#include "store/seen_set.h"

namespace kin::dedup {

// No other process can add to the set while this is open, so it does not change during a run.
// Thread-compatible; each thread has its own Lookup.
class SeenIds {
 public:
  // Opens the set of `options`, or makes one for text ids. A dry run only reads; a missing set is
  // then an empty one.
  static Result<std::unique_ptr<SeenIds>> open(const DedupOptions& options, Clock& clock);

  // How many ids the set holds. A set only grows, so an equal length means an unchanged set.
  std::uint64_t len() const;

  // One thread only; must not outlive the ids.
  class Lookup {
   public:
    // By record of the batch: 1 if the set had its id before the run. A record without an id was
    // never seen. An id that the set cannot hold is an error, unless such records are skipped.
    Result<std::span<const std::uint8_t>> seen(const data::Batch& batch, std::size_t column);

   private:
    friend class SeenIds;
    Lookup(const SeenIds& ids, std::unique_ptr<store::SeenReader> reader);
    const SeenIds& ids_;
    std::unique_ptr<store::SeenReader> reader_;
    std::vector<store::SeenId> asked_;
    std::vector<std::size_t> places_;  // positions in the batch of the looked-up ids
    std::vector<std::uint8_t> found_;
    std::vector<std::uint8_t> seen_;
  };
  Lookup lookup() const;

  // Adds the ids of all records and returns when they are durable. kCancelled once the progress is
  // stopped.
  Status record(data::Dataset& dataset, Progress& progress);

 private:
  explicit SeenIds(const DedupOptions& options) : options_(options) {}
  Status collect(const data::Batch& batch, std::size_t column, std::vector<store::SeenId>& ids,
                 std::vector<std::size_t>& places) const;

  DedupOptions options_;
  std::unique_ptr<store::SeenSet> set_;  // nothing: an empty one
};

}  // namespace kin::dedup
