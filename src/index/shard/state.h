// What a shard is made of.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "index/shard.h"
#include "index/shard/near_duplicates.h"
#include "index/shard/space.h"
#include "index/shard/store.h"
#include "index/text_index.h"

namespace kin::index {

// What was found out about a batch before it was written, by mutation.
struct PreparedBatch {
  using Vectors = std::vector<std::optional<std::vector<float>>>;
  std::map<std::shared_ptr<SpaceGeneration>, Vectors> computed = {};
  std::vector<std::size_t> origins = {};  // of what is written in its place; empty: of each its own
  std::unordered_map<std::uint32_t, std::size_t> mutations = {};  // by the number they made
};

// Locks are taken in the order stepping, writing, publishing.
class Shard::State {
 public:
  static Result<std::unique_ptr<State>> open(const std::filesystem::path& folder,
                                             ShardOptions options);
  ~State();

  Result<Applied> apply(std::span<const Mutation> mutations, const kv::WriteOptions& options);
  std::shared_ptr<const ShardView::State> current() const;
  Result<bool> step();
  Status replace_space(SpaceOptions space);
  Status checkpoint();
  ShardStats stats() const;
  Result<CheckReport> check(const std::function<void(double)>& progress) const;
  Status close();

 private:
  State() = default;

  // Opening.
  Status restore(const TruthView& view);
  Status restore_text(const TruthView& view);
  Status rebuild_text(const TruthView& view);
  Status restore_space(const SpaceOptions& options, const TruthView& view, ShardSpace& space) const;
  Result<std::shared_ptr<SpaceGeneration>> restored(const SpaceOptions& options) const;
  Result<std::shared_ptr<SpaceGeneration>> begun(const SpaceOptions& options,
                                                 const TruthView& view) const;
  Status restore_near_duplicates(const TruthView& view);
  Status replay(const TruthView& view);

  // Following the truth; with `writing` held.
  Status follow(const TruthView& view, std::span<const Change> changes,
                const PreparedBatch& prepared);
  Status follow_space(const std::shared_ptr<SpaceGeneration>& generation,
                      std::span<const Document> documents, const PreparedBatch& prepared);
  Status publish();
  void drain();
  template <typename Do>
  void each_generation(Do&& act) const {
    for (const ShardSpace& space : spaces_) {
      act(space.live);
      if (space.next) act(space.next);
    }
  }

  // Writing.
  Status check_vectors(std::span<const Mutation> mutations) const;
  Result<PreparedBatch> prepare(std::span<const Mutation> mutations) const;
  Result<Applied> write(std::span<const Mutation> mutations, const kv::WriteOptions& options,
                        PreparedBatch& prepared);
  Status refused() const;

  // Steps; with `stepping` held.
  Status tidy_views();
  Result<bool> step_text();
  Result<bool> step_space(ShardSpace& space);
  Result<bool> step_index(SpaceGeneration& generation);
  Result<bool> step_scan(SpaceGeneration& generation);
  Result<bool> step_checkpoint();
  bool checkpoint_is_due() const;
  Status write_checkpoint();
  void add_near_duplicates(CheckpointWrite& write);

  ShardOptions options_;
  std::unique_ptr<Truth> truth_;
  std::optional<ShardStore> store_;
  std::optional<TextIndex> text_;
  // Where opening starts from: what the store holds, nothing at all with every change still there,
  // or a truth whose first changes are gone.
  enum class Start : std::uint8_t { kCheckpoint, kFirstChange, kScan };
  Start start_ = Start::kScan;

  mutable std::mutex stepping_;  // by whoever does what takes time; guards store_ and what follows
  std::size_t turn_ = 0;
  bool write_all_ = false;  // a checkpoint failed, and what it held counts as unwritten
  bool merged_ = false;     // texts since the last view
  bool checkpoint_wanted_ = false;
  std::atomic<Lsn> checkpoint_lsn_ = 0;  // read by anybody

  mutable std::mutex writing_;      // by whoever changes anything; guards what follows
  std::vector<ShardSpace> spaces_;  // changed with `stepping` held, too
  std::optional<NearDuplicates> near_;
  std::vector<std::uint64_t> near_sequences_;  // of the checkpoint that wrote each page last
  Lsn applied_ = 0;
  std::optional<Error> failed_;
  struct Published {
    Lsn lsn;
    std::weak_ptr<const ShardView::State> state;
  };
  std::deque<Published> published_;  // from the oldest that somebody may still hold

  mutable std::mutex publishing_;  // to copy or exchange the pointer, no longer
  std::shared_ptr<const ShardView::State> now_;
};

}  // namespace kin::index
