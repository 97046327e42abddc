// The parts of a shard, and the locks that guard them.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "index/shard.h"
#include "index/shard/near_duplicates.h"
#include "index/shard/space.h"
#include "index/shard/store.h"
#include "index/text_index.h"

namespace kin::index {

// Vectors of a batch that were computed before it was written, by its mutations or records.
struct PreparedBatch {
  using Vectors = std::vector<std::optional<std::vector<float>>>;
  std::map<std::shared_ptr<SpaceGeneration>, Vectors> computed = {};
  std::vector<std::size_t> origins = {};  // of a screened batch, see ScreenedBatch; empty: as given
  std::unordered_map<std::uint32_t, std::size_t> mutations = {};  // by the number they made
};

// Locks are taken in the order stepping, writing, publishing.
class Shard::State final : public Shard {
 public:
  static Result<std::unique_ptr<Shard>> open(const std::filesystem::path& folder,
                                             ShardOptions options);
  ~State() override;

  Result<Applied> apply(std::span<const Mutation> mutations, const ApplyOptions& options) override;
  Result<Applied> apply(std::span<const Record> records, const ApplyOptions& options) override;
  Result<std::uint64_t> open_session() override {
    KIN_RETURN_IF_ERROR(refused_to_copies());
    return truth_->open_session();
  }
  Result<bool> was_applied(const RequestId& request) const override {
    return truth_->was_applied(request);
  }
  Status forget(std::span<const DocId> ids) override;
  Status apply_shipped(std::span<const std::string_view> batches,
                       std::string_view position) override;
  Result<std::optional<std::string>> shipped_position() const override {
    return truth_->shipped_position();
  }
  void become_owner() override { is_copy_ = false; }
  Status copy_truth(const std::filesystem::path& folder) override {
    return truth_->copy_rows(folder);
  }
  ShardView view() const override { return ShardView(current()); }
  Status keep_apart(PartitionId partition) override;
  Status join_again(PartitionId partition) override;
  Result<StepOutcome> step() override;
  Status replace_space(SpaceOptions space) override;
  Status checkpoint() override;
  Status acknowledge(std::string_view follower, Lsn applied) override {
    KIN_RETURN_IF_ERROR(refused_to_copies());
    return truth_->acknowledge(follower, applied);
  }
  Status drop_follower(std::string_view follower) override {
    KIN_RETURN_IF_ERROR(refused_to_copies());
    return truth_->drop_follower(follower);
  }
  Result<std::vector<std::vector<NearText>>> near_texts(
      std::span<const TextSketch> sketches,
      const std::optional<std::set<PartitionId>>& within) const override;
  ShardStats stats() const override;
  Result<CheckReport> check(const std::function<void(double)>& progress) const override;
  Status close() override;

 private:
  State() = default;
  std::shared_ptr<const ShardView::State> current() const;

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

  // Following the truth. `writing` must be held.
  Status follow(const TruthView& view, std::span<const Change> changes,
                const PreparedBatch& prepared);
  Status follow_space(const std::shared_ptr<SpaceGeneration>& generation,
                      std::span<const StoredDocument> documents, const PreparedBatch& prepared);
  void learn_partitions(std::span<const Change> changes);
  // Partitions apart (apart.cc).
  bool is_foreign(PartitionId partition) const;
  void follow_owners(std::span<const Change> changes);
  Status follow_apart(const TruthView& view, std::span<const Change> changes);
  void set_sections(std::span<const Change> changes, std::vector<TextDocument>& documents) const;
  Status learn_apart(PartitionId partition);
  Result<StepOutcome> step_apart();
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
  // By mutation or record; nullptr where none is put.
  Status check_vectors(std::span<const Entity* const> entities) const;
  Result<PreparedBatch> prepare(std::span<const Entity* const> entities) const;
  // The indexes follow a batch that was written.
  Result<Applied> follow_batch(Result<Applied> written, PreparedBatch& prepared);
  Status refused() const;
  Status refused_to_copies() const;

  // Steps. `stepping` must be held.
  Status tidy_views();
  Result<StepOutcome> step_text();
  Result<StepOutcome> step_space(ShardSpace& space);
  Result<StepOutcome> step_index(SpaceGeneration& generation);
  Result<StepOutcome> step_scan(SpaceGeneration& generation);
  Result<StepOutcome> step_checkpoint();
  bool checkpoint_is_due() const;
  Status write_checkpoint();
  void add_near_duplicates(CheckpointWrite& write);

  ShardOptions options_;
  std::atomic<bool> is_copy_ = false;  // of another shard's log
  std::unique_ptr<Truth> truth_;
  std::optional<ShardStore> store_;
  std::optional<TextIndex> text_;
  // Where opening starts: at a checkpoint, at the first change of a complete log, or with a scan of
  // the truth because the log is trimmed.
  enum class Start : std::uint8_t { kCheckpoint, kFirstChange, kScan };
  Start start_ = Start::kScan;

  mutable std::mutex stepping_;  // held during long work; guards store_ and what follows
  std::size_t turn_ = 0;
  bool write_all_ = false;  // a checkpoint failed, so the next one must write everything
  bool merged_ = false;     // text segments were merged since the last view
  bool checkpoint_wanted_ = false;
  std::atomic<Lsn> checkpoint_lsn_ = 0;  // read without a lock

  mutable std::mutex writing_;      // held during changes; guards what follows
  std::vector<ShardSpace> spaces_;  // changed with `stepping` held, too
  std::optional<NearDuplicates> near_;
  std::vector<std::uint64_t> near_sequences_;  // of the checkpoint that wrote each page last
  Lsn applied_ = 0;
  std::shared_ptr<const std::set<PartitionId>> partitions_;  // see ShardView::State
  Owners owners_;  // as of the last changes
  // Of all foreign partitions whose documents came while the shard was open, and others that were
  // learnt. Null: none.
  std::shared_ptr<const PartitionsApart> apart_;
  std::optional<Error> failed_;
  struct Published {
    Lsn lsn;
    std::weak_ptr<const ShardView::State> state;
  };
  std::deque<Published> published_;  // from the oldest that a reader may hold

  mutable std::mutex publishing_;  // held only to copy or swap now_
  std::shared_ptr<const ShardView::State> now_;
};

}  // namespace kin::index
