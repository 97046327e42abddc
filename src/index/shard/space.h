// One generation of an embedding space in a shard: an index of vectors, and its progress.
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

// Vectors read from a view of the truth, or computed from its texts. Thread-safe while its view is
// not exchanged.
class TruthVectors : public RawVectors {
 public:
  // Without a view, reads fail until one is pinned.
  explicit TruthVectors(SpaceOptions space, const TruthView* view = nullptr)
      : space_(std::move(space)), view_(view) {}
  void pin(const TruthView* view) { view_ = view; }
  Result<bool> read(std::uint32_t id, std::span<float> out) const override;

 private:
  SpaceOptions space_;
  const TruthView* view_;
};

// The scan of entities that are older than the generation.
struct SpaceScan {
  std::optional<DocNumber> after = {};
  std::uint32_t below = 0;                      // higher numbers come by the changelog
  std::unordered_set<std::uint32_t> gone = {};  // retired since the current page was read
};

// Readers use the index only. Everything else is guarded by the lock of the shard.
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

  // Views from `lsn` on do not see the number.
  void retire(std::uint32_t number, Lsn lsn);
  // Removes numbers from the index that no view from `oldest` on sees.
  void drain(Lsn oldest);
  // Numbers that are retired but still in the index; ascending.
  std::shared_ptr<const std::vector<std::uint32_t>> retired() const;

  bool is_complete() const { return !scan.has_value(); }
  double share() const;

  SpaceOptions options;
  std::unique_ptr<TruthVectors> raw;  // for an index that keeps no vectors; pinned during a step
  std::unique_ptr<VectorIndex> index;
  std::optional<SpaceScan> scan;
  std::deque<Retired> queue;             // retired, and still in the index
  std::vector<std::uint64_t> sequences;  // of the checkpoint that wrote each cell last
};

// The generation that is searched, and one that may be under construction.
struct ShardSpace {
  std::shared_ptr<SpaceGeneration> live;
  std::shared_ptr<SpaceGeneration> next;  // null: none is under construction
};

}  // namespace kin::index
