// One generation of an embedding space in a shard: an index of vectors, and how far it is.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "index/shard.h"
#include "index/truth/view.h"
#include "index/vector_index.h"
#include "index/view.h"

namespace kin::index {

// The vectors that a view of the truth has, or makes it possible to compute. Thread-safe.
class TruthVectors : public RawVectors {
 public:
  TruthVectors(const TruthView& view, SpaceOptions space)
      : view_(&view), space_(std::move(space)) {}
  Result<bool> read(std::uint32_t id, std::span<float> out) const override;

 private:
  const TruthView* view_;
  SpaceOptions space_;
};

// What an index that keeps no vectors reads while it is stepped: those of the view it is given for
// that time. One thread at a time.
class PinnedVectors : public RawVectors {
 public:
  explicit PinnedVectors(SpaceOptions space) : space_(std::move(space)) {}
  void pin(const TruthView* view) { view_ = view; }
  Result<bool> read(std::uint32_t id, std::span<float> out) const override;

 private:
  SpaceOptions space_;
  const TruthView* view_ = nullptr;
};

// Entities that were there before the generation was, and are still to be read.
struct SpaceScan {
  std::optional<DocNumber> after = {};
  std::uint32_t below = 0;                      // later numbers come by the changelog
  std::unordered_set<std::uint32_t> gone = {};  // retired since the page in hand was read
};

// What it shares with readers is the index alone; all else is its shard's, under the shard's lock.
struct SpaceGeneration {
  static Result<std::shared_ptr<SpaceGeneration>> create(const SpaceOptions& options,
                                                         std::uint32_t cell_size);
  static Result<std::shared_ptr<SpaceGeneration>> restore(
      const SpaceOptions& options, std::uint32_t cell_size, std::string_view head,
      const std::function<Result<std::string>(std::uint32_t number)>& read_cell);

  struct Retired {
    Lsn lsn;
    std::uint32_t number;
  };

  // Remembers that a number has no place in views from `lsn` on.
  void retire(std::uint32_t number, Lsn lsn);
  // Removes what no view sees that is older than `oldest`.
  void drain(Lsn oldest);
  // In order.
  std::shared_ptr<const std::vector<std::uint32_t>> retired() const;

  bool is_complete() const { return !scan.has_value(); }
  double share() const;

  SpaceOptions options;
  std::unique_ptr<PinnedVectors> raw;
  std::unique_ptr<VectorIndex> index;
  std::optional<SpaceScan> scan;
  std::deque<Retired> queue;             // retired, and still in the index
  std::vector<std::uint64_t> sequences;  // of the checkpoint that wrote each cell last
};

// A generation that is searched, and one that may be in the making.
struct ShardSpace {
  std::shared_ptr<SpaceGeneration> live;
  std::shared_ptr<SpaceGeneration> next;  // nothing: none is
};

}  // namespace kin::index
