// Writes of an index that links or refuses near-duplicates.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "index/screening.h"
#include "router/calls/shards.h"

namespace kin::router {

// Asks all shards for near texts before a batch is written. One batch at a time, so that each is
// compared with the one before. Thread-safe; the shards outlive it.
class ScreenedWrites {
 public:
  // kInvalidArgument for a threshold that sketches cannot serve.
  static Result<std::unique_ptr<ScreenedWrites>> create(
      Shards& shards, const index::NearDuplicateOptions& options);

  // See Router::write(). kUnavailable, and nothing is written, if a shard does not answer.
  Result<Written> write(std::span<const index::Mutation> mutations);

 private:
  ScreenedWrites(Shards& shards, const index::NearDuplicateOptions& options,
                 index::TextSketcher sketcher)
      : shards_(shards), options_(options), sketcher_(std::move(sketcher)) {}

  Shards& shards_;
  const index::NearDuplicateOptions options_;
  const index::TextSketcher sketcher_;
  std::mutex writing_;  // held from the comparison until the batch is written
};

}  // namespace kin::router
