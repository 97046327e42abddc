// The ids of earlier runs, and of this one: what --skip-seen asks and adds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "dedup/options.h"
#include "store/seen_set.h"

namespace kin::dedup {

// The set that a run skips by. Nobody else can add to it while this is open, so that one run asks
// one set. Thread-compatible; lookups are for a thread each.
class SeenIds {
 public:
  // Opens the set of `options`, or makes one for text ids. A dry run only reads, and takes a set
  // that is not there for an empty one.
  static Result<std::unique_ptr<SeenIds>> open(const DedupOptions& options);

  // How many ids the set holds. As a set only grows, it has changed if this has.
  std::uint64_t len() const;

  // One thread only, and not longer than the ids.
  class Lookup {
   public:
    // By record of the batch: 1 if the set had its id before the run. A record without an id was
    // never seen. An id that the set cannot hold is an error, or none if such are skipped.
    Result<std::span<const std::uint8_t>> seen(const data::Batch& batch, std::size_t column);

   private:
    friend class SeenIds;
    Lookup(const SeenIds& ids, std::unique_ptr<store::SeenReader> reader);
    const SeenIds& ids_;
    std::unique_ptr<store::SeenReader> reader_;
    std::vector<store::SeenId> asked_;
    std::vector<std::size_t> places_;  // in the batch, of what is asked
    std::vector<std::uint8_t> found_;
    std::vector<std::uint8_t> seen_;
  };
  Lookup lookup() const;

  // Adds the ids of all records and returns when they are durable. kCancelled once `stop` is set.
  Status record(data::Dataset& dataset, const std::atomic<bool>& stop);

 private:
  explicit SeenIds(const DedupOptions& options) : options_(options) {}
  Status collect(const data::Batch& batch, std::size_t column, std::vector<store::SeenId>& ids,
                 std::vector<std::size_t>& places) const;

  DedupOptions options_;
  std::unique_ptr<store::SeenSet> set_;  // nothing: an empty one
};

}  // namespace kin::dedup
