// The node's side: one shard of an index, as it answers routers.
//
//   KIN_TRY(auto host, ShardHost::open("data/papers", options));
//   Reply<Response> reply = host->serve(request, {.map_epoch = 7, .deadline = soon});
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/step.h"
#include "index/digest.h"
#include "index/shard.h"
#include "router/centroids.h"
#include "router/node/directory.h"
#include "router/node/load.h"
#include "router/node/standing.h"
#include "router/requests.h"
#include "router/shard_client.h"
#include "router/shipped_log.h"

namespace kin::router {

// The ties of a shard to its shipped log (router/log_shipper.h).
struct HostLog {
  kv::BatchObserver truth = {};      // receives every change of the shard's truth
  kv::BatchObserver directory = {};  // and of its directory
  // The shard is a copy: apply_shipped() alone changes it, until become_owner(). It answers nothing
  // about partitions.
  bool is_copy = false;
};

// A shard that was never told what it owns refuses every request about partitions. Thread-safe;
// starts no thread.
class ShardHost {
 public:
  // Opens the shard and its directory, or makes them. A shard that has no identity yet gets
  // `identity` for ever; no two shards may have the same.
  static Result<std::unique_ptr<ShardHost>> open(const std::filesystem::path& folder,
                                                 index::ShardOptions options,
                                                 const Hash128& identity,
                                                 const HostLog& log = {});

  // Has every request ask what the shard may answer now. Without this, it is the owner. Called
  // before the first request.
  void ask_standing(KnowStanding standing) { standing_ = std::move(standing); }

  // Answers one request. A write is durable and found by every later request when this returns. A
  // request whose deadline is over is not begun: kUnavailable.
  Reply<Response> serve(const Request& request, const CallOptions& options);

  // As an AssignRequest from whoever has read the map, whatever the shard's standing.
  Status assign(const AssignRequest& request);

  // A copy: applies an object of the owner's log, in the order of the log. Objects that were applied
  // are skipped, so that a copy goes on after a crash from the older of its stores' positions.
  Status apply_shipped(const LogObject& object);
  // Everything up to it was applied. Nothing if the shard has never been a copy.
  Result<std::optional<LogPosition>> shipped_position() const;
  // A copy becomes the owner: from now on it serves, and its changes go to the observers.
  Status become_owner();
  bool is_copy() const { return is_copy_; }
  // Writes the rows of truth and directory to an empty folder, from which a shard can be opened, with
  // indexes that are built again. Changes go on meanwhile: one that is in one of the two may be
  // missing in the other.
  Status copy_rows(const std::filesystem::path& folder);

  // Does one piece of the shard's background work.
  Result<StepOutcome> step();
  // Writes a checkpoint and closes the files; no call may be running.
  Status close();

  index::Shard& shard() { return *shard_; }
  // See CallOptions::shard.
  const Hash128& identity() const { return identity_; }
  // What partitions cost since the shard was opened.
  PartitionLoads loads() const { return loads_.at(clock_.steady_now()); }
  // False until the shard is told for the first time what it owns.
  bool is_assigned() const;
  // Takes part in a move that is not over.
  bool is_in_move() const;

 private:
  ShardHost(std::unique_ptr<index::Shard> shard, std::unique_ptr<Directory> directory,
            const Hash128& identity, Clock& clock, bool is_copy);
  // Reads again what is kept of the stores.
  Status learn_stores();
  Status load_moves();

  // One for every request, by its type.
  Reply<Response> answer(const OpenSession& request, const CallOptions& options);
  Reply<Response> answer(const WriteRequest& request, const CallOptions& options);
  Reply<Response> answer(const AssignRequest& request, const CallOptions& options);
  Reply<Response> answer(const ClaimRequest& request, const CallOptions& options);
  Reply<Response> answer(const LocateRequest& request, const CallOptions& options);
  Reply<Response> answer(const GetRequest& request, const CallOptions& options);
  Reply<Response> answer(const StatisticsRequest& request, const CallOptions& options);
  Reply<Response> answer(const FindRequest& request, const CallOptions& options);
  Reply<Response> answer(const SumRequest& request, const CallOptions& options);
  Reply<Response> answer(const PresentRequest& request, const CallOptions& options);
  Reply<Response> answer(const HeadsRequest& request, const CallOptions& options);
  Reply<Response> answer(const EdgesRequest& request, const CallOptions& options);
  Reply<Response> answer(const ListRequest& request, const CallOptions& options);
  Reply<Response> answer(const ReadLogRequest& request, const CallOptions& options);
  Reply<Response> answer(const DigestRequest& request, const CallOptions& options);
  Reply<Response> answer(const StatsRequest& request, const CallOptions& options);
  Reply<Response> answer(const HealthRequest& request, const CallOptions& options);
  Reply<Response> answer(const StoreBlobRequest& request, const CallOptions& options);
  Reply<Response> answer(const ReadBlobRequest& request, const CallOptions& options);
  Reply<Response> answer(const ScopeRequest& request, const CallOptions& options);
  Reply<Response> answer(const AboutRequest& request, const CallOptions& options);
  Reply<Response> answer(const CheckRequest& request, const CallOptions& options);
  Reply<Response> answer(const NearRequest& request, const CallOptions& options);
  Reply<Response> answer(const ReceiveRequest& request, const CallOptions& options);
  Reply<Response> answer(const TakeRequest& request, const CallOptions& options);
  Reply<Response> answer(const FollowRequest& request, const CallOptions& options);
  Reply<Response> answer(const CopyRequest& request, const CallOptions& options);
  Reply<Response> answer(const PlacesRequest& request, const CallOptions& options);
  Reply<Response> answer(const EndMoveRequest& request, const CallOptions& options);
  Reply<Response> answer(const PullRequest& request, const CallOptions& options);
  Reply<Response> answer(const SampleRequest& request, const CallOptions& options);
  Reply<Response> answer(const DivideRequest& request, const CallOptions& options);
  Reply<Response> answer(const LabelsRequest& request, const CallOptions& options);
  Reply<Response> answer(const PlaceRequest& request, const CallOptions& options);
  Reply<Response> answer(const EndDivideRequest& request, const CallOptions& options);

  // The partitions that a request is answered about: more than it names during a repartition.
  struct Wider {
    std::optional<Partitions> all = {};
    const Partitions& of(const Partitions& named) const { return all ? *all : named; }
  };
  // Whether the request is a read by a map with a later repartition than the shard knows.
  bool is_behind(const Request& request, const CallOptions& options) const;
  // Nothing if the shard owns all of them, from epochs that are in the caller's map.
  std::optional<Refused> refusal(const Partitions& partitions, const CallOptions& options,
                                 Wider* wider = nullptr) const;
  // The same, and widens the scope of the query.
  std::optional<Refused> refusal(index::ShardQuery& query, const CallOptions& options) const;
  // The state of the statistics of words; see StatisticsReply.
  std::uint64_t statistics_state(const index::ShardView& view, const index::Scope& scope) const;
  void count_work(const Request& request, const Response& response, SteadyTime begun);
  // With `writing_` held.
  Result<WriteReply> write(const WriteRequest& request, const CallOptions& options);
  // The reply to a request that was applied before; nothing if it was not.
  Result<std::optional<WriteReply>> written_before(const WriteRequest& request) const;

  // Moves (shard_host_moves.cc). What changes a part, with `writing_` held.
  bool owns(index::PartitionId partition) const;
  // The shard's part in this move; an empty one if it has none yet. kFailedPrecondition if the move
  // is over here, or there is a newer one.
  Result<MoveRow> part_in(const MoveName& move) const;
  // Its part in the newest move of the partition; an id of 0 if there was none.
  MoveRow newest_part(index::PartitionId partition) const;
  Status keep(const MoveName& move, const MoveRow& row, std::span<const Placed> places = {});
  // Removes up to `limit` entities of the move's partition, and its directory entries after the last
  // one. True if there may be more.
  Result<bool> clear(const MoveName& move, std::size_t limit);
  // Runs `piece(most)` for up to `limit` things, or until it says that there are no more; short
  // pieces while clients are served. True if there may be more.
  template <typename Piece>
  Result<bool> in_pieces(std::size_t limit, Pace* pace, const Piece& piece);
  // Pieces of the requests of these names. Nothing: the shard is not ready yet.
  Result<std::optional<MoveProgress>> receive(const MoveName& move, std::size_t limit);
  Result<bool> end_move(const EndMoveRequest& request, std::size_t limit);
  // A shard that owns a partition has received it.
  Status end_received(const index::Owners& owners);
  // Takes a page that continues `after`, unless the copy has come further meanwhile.
  Result<MoveProgress> take_page(const MoveName& move, const std::optional<std::string>& after,
                                 index::ExportPage page);
  Status take_records(std::span<const index::Record> records);
  Result<MoveProgress> progress_in(const MoveName& move);
  // The page after `request.after`; see FollowPage for the rest.
  Result<FollowPage> log_page(const FollowRequest& request, Lsn last, bool owned) const;
  // From the digest that is kept of the partition, if there is one, and kept again. At the deadline
  // kUnavailable: the next call goes on.
  Result<index::KeptDigest> kept_digest(const DigestRequest& request, const CallOptions& options);
  // True if there is more to read.
  Result<bool> read_until(index::DigestReading& reading, SteadyTime deadline, Pace* pace) const;
  // Rows of the partition went without a change in the log, or the move is over.
  void drop_kept(index::PartitionId partition);
  void drop_kept_before(SteadyTime used);

  // Repartitions (shard_host_repartition.cc).
  // The shard's part in this one; one without an id if it has none yet. kFailedPrecondition if the
  // repartition is over here, or there is a newer one.
  Result<RepartitionRow> part_in_repartition(std::uint64_t id) const;
  Status keep(const RepartitionRow& row);
  // kFailedPrecondition unless the shard owns all of them from `epoch` on.
  Status check_members(const Partitions& members, std::uint64_t epoch) const;
  Result<std::shared_ptr<const Centroids>> centroids_of(const RepartitionRow& row);
  // The next entities of the members, with the members they go to.
  struct DividedPage;
  Result<DividedPage> divide_page(const RepartitionRow& row, std::size_t limit);
  // From the directory, after it changed.
  Status learn_repartition();

  std::unique_ptr<index::Shard> shard_;
  std::unique_ptr<Directory> directory_;
  const Hash128 identity_;
  Clock& clock_;
  Loads loads_;
  KnowStanding standing_;

  std::atomic<bool> is_copy_;
  const std::uint64_t opened_;  // tells this opening of the shard from earlier ones

  mutable std::mutex owning_;  // held briefly; taken after writing_
  index::Owners owners_;
  std::map<index::PartitionId, MoveRow> moves_;  // as they are stored; changed with `writing_` held
  RepartitionRow repartition_;                   // the same
  std::uint64_t divided_ = 0;                    // the same; see CallOptions::divided

  std::mutex writing_;  // held during writes and changes of owners; guards what follows
  struct LastWrite {
    std::uint64_t sequence = 0;
    WriteReply reply = {};
  };
  std::pair<Hash128, std::shared_ptr<const Centroids>> centroids_;  // of a repartition
  // How far clear() is with a partition, by the entity that it looked at last.
  struct Cleared {
    std::uint64_t move = 0;
    DocId id = {};
  };
  std::map<index::PartitionId, Cleared> cleared_;
  std::map<std::uint64_t, LastWrite> last_writes_;  // by session, since the shard was opened

  // Of partitions that move.
  struct Kept {
    std::optional<index::KeptDigest> digest = {};
    std::optional<index::DigestReading> reading = {};  // which a deadline has ended
    SteadyTime used = {};
    // Held while the digest is made: others wait and go on from it.
    std::shared_ptr<std::mutex> making = std::make_shared<std::mutex>();
  };
  std::mutex keeping_;  // held briefly
  std::map<index::PartitionId, Kept> kept_;
  std::uint64_t kept_drops_ = 0;
};

// A shard in this process. Calls are served when they are started. Thread-safe; the host outlives
// it.
class LocalClient final : public ShardClient {
 public:
  explicit LocalClient(ShardHost& host) : host_(host) {}
  Started<Response> start(Request request, const CallOptions& options) override;

 private:
  ShardHost& host_;
};

}  // namespace kin::router
