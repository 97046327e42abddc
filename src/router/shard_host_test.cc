#include "router/shard_host.h"

#include <atomic>

#include "base/file.h"
#include "router/testing/shard_client_contract.h"

namespace kin::router {
namespace {

class LocalShard final : public ReachableShard {
 public:
  LocalShard() { restart(); }
  ShardClient& client() override { return *client_; }
  Clock& clock() override { return system_clock(); }
  void restart() override {
    client_.reset();
    host_.reset();
    auto opened = ShardHost::open(folder_.path() / "shard", contract_options(), {.low = 7});
    KIN_CHECK(opened.ok(), "the shard opens");
    host_ = std::move(*opened);
    client_ = std::make_unique<LocalClient>(*host_);
  }

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::unique_ptr<ShardHost> host_;
  std::unique_ptr<LocalClient> client_;
};

std::unique_ptr<ReachableShard> make_local() {
  return std::make_unique<LocalShard>();
}

// Every look at it takes a millisecond.
class TickingClock final : public Clock {
 public:
  WallTime now() const override { return WallTime{}; }
  SteadyTime steady_now() const override {
    return SteadyTime{} + std::chrono::hours{1} + std::chrono::milliseconds{++looks_};
  }
  void sleep_for(std::chrono::nanoseconds) override { ++looks_; }

 private:
  mutable std::atomic<int> looks_{0};
};

TEST(ShardHost, CountsTheWorkForEachPartition) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  TickingClock clock;
  index::ShardOptions options = contract_options();
  options.clock = &clock;
  const auto host = std::move(*ShardHost::open(folder.path() / "shard", options, {.low = 7}));
  const CallOptions how{.map_epoch = 1};
  const auto ask = [&](const Request& request) {
    auto reply = host->serve(request, how);
    KIN_CHECK(reply.ok(), "the shard answers");
    return std::move(*reply);
  };
  const index::PartitionId one{1}, other{2};
  ask(AssignRequest{.owners = {{.partition = one, .epoch = 1, .owned = true},
                               {.partition = other, .epoch = 1, .owned = true}}});
  EXPECT_TRUE(host->loads().empty());
  index::PutEntity put;
  put.entity.id = doc_id_of("test", "a");
  put.entity.key = "a";
  put.partition = other;
  const auto session = std::get<SessionOpened>(std::get<Response>(ask(OpenSession{}))).session;
  ask(WriteRequest{.id = {.session = session, .sequence = 1},
                   .mutations = {put},
                   .partitions = {one, other}});
  EXPECT_EQ(host->loads().size(), 1U);  // one has no entity of the write
  const double written = host->loads().at(other);
  EXPECT_GT(written, 0);
  ask(GetRequest{.ids = {put.entity.id}, .partitions = {one, other}});
  EXPECT_GT(host->loads().at(other), written);
  // A request that is refused does no work for anybody.
  const auto refused = ask(GetRequest{.partitions = {index::PartitionId{3}}});
  EXPECT_TRUE(std::holds_alternative<Refused>(refused));
  EXPECT_FALSE(host->loads().contains(index::PartitionId{3}));
  const auto stats = std::get<StatsReply>(std::get<Response>(ask(StatsRequest{})));
  EXPECT_EQ(stats.loads.size(), 1U);
}

TEST(ShardHost, KnowsWhetherItTakesPartInAMove) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  const auto open = [&] {
    return std::move(*ShardHost::open(folder.path() / "shard", contract_options(), {.low = 7}));
  };
  auto host = open();
  const CallOptions how{.map_epoch = 1};
  ASSERT_TRUE(host->serve(AssignRequest{.owners = {{.partition = index::PartitionId{1},
                                                    .epoch = 1,
                                                    .owned = true}}},
                          how).ok());
  EXPECT_FALSE(host->is_in_move());
  const MoveName move{.id = 7, .partition = index::PartitionId{3}};
  ASSERT_TRUE(host->serve(ReceiveRequest{.move = move}, how).ok());
  EXPECT_TRUE(host->is_in_move());
  host.reset();
  host = open();
  EXPECT_TRUE(host->is_in_move()) << "it remembers";
  ASSERT_TRUE(host->serve(EndMoveRequest{.move = move}, how).ok());
  EXPECT_FALSE(host->is_in_move());
}

TEST(ShardHost, AnswersWhatItsStandingAllows) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  const auto host = std::move(*ShardHost::open(folder.path() / "shard", contract_options(), {.low = 7}));
  Standing standing;
  host->ask_standing([&] { return standing; });
  const index::PartitionId one{1};
  const CallOptions now{.map_epoch = 1};
  ASSERT_TRUE(host->serve(AssignRequest{.owners = {{.partition = one, .epoch = 1, .owned = true}}},
                          now).ok());
  const GetRequest read{.ids = {doc_id_of("test", "a")}, .partitions = {one}};
  EXPECT_TRUE(host->serve(read, now).ok());

  using Role = Standing::Role;
  standing = {.role = Role::kNobody, .why = "its lease is over"};
  for (const Request& request : {Request(read), Request(OpenSession{}), Request(DigestRequest{})}) {
    const auto reply = host->serve(request, now);
    ASSERT_FALSE(reply.ok()) << kind_of(request);
    EXPECT_EQ(reply.error().code, Code::kUnavailable);
    EXPECT_EQ(reply.error().message,
              "this node does not own the shard at the moment: its lease is over");
  }
  EXPECT_TRUE(host->serve(HealthRequest{}, now).ok());

  standing = {.role = Role::kFollower, .behind = std::chrono::milliseconds{300}};
  EXPECT_FALSE(host->serve(read, now).ok());
  std::chrono::milliseconds told{0};
  CallOptions old = now;
  old.on_behind = [&](auto behind) { told = behind; };
  old.most_behind = std::chrono::milliseconds{299};
  EXPECT_EQ(host->serve(read, old).error().message,
            "the copy of the shard on this node is 300 ms old, and 299 ms are allowed");
  old.most_behind = std::chrono::milliseconds{300};
  EXPECT_TRUE(host->serve(read, old).ok());
  EXPECT_EQ(told.count(), 300);
  for (const Request& request :
       {Request(OpenSession{}), Request(WriteRequest{}), Request(AssignRequest{}),
        Request(ClaimRequest{}), Request(StoreBlobRequest{}), Request(EndMoveRequest{})}) {
    const auto reply = host->serve(request, old);
    ASSERT_FALSE(reply.ok()) << kind_of(request);
    EXPECT_EQ(reply.error().code, Code::kUnavailable);
  }
}

// Its entities may be in other partitions than the caller thinks.
TEST(ShardHost, RefusesReadsBeforeItHasComeToTheRepartitionOfTheCallersMap) {
  const TemporaryFolder folder = std::move(*TemporaryFolder::create());
  const auto open = [&] {
    return std::move(*ShardHost::open(folder.path() / "shard", contract_options(), {.low = 7}));
  };
  auto host = open();
  const index::PartitionId one{1};
  AssignRequest assign{.owners = {{.partition = one, .epoch = 3, .owned = true}}, .divided = 5};
  ASSERT_TRUE(host->serve(assign, {}).ok());
  const auto is_refused = [&](const Request& request, std::uint64_t divided) {
    const auto reply = host->serve(request, {.map_epoch = 9, .divided = divided});
    KIN_CHECK(reply.ok(), "it is answered");
    return std::holds_alternative<Refused>(*reply);
  };
  const DocId id = doc_id_of("test", "a");
  const std::vector<Request> reads{GetRequest{.ids = {id}, .partitions = {one}},
                                   LocateRequest{.entities = {{.id = id, .home = one}}},
                                   HeadsRequest{.ids = {id}, .partitions = {one}}};
  for (const Request& read : reads) {
    EXPECT_FALSE(is_refused(read, 0)) << kind_of(read);
    EXPECT_FALSE(is_refused(read, 5)) << kind_of(read);
    EXPECT_TRUE(is_refused(read, 6)) << kind_of(read);
  }
  // A write that is refused is never applied, also if it arrives again.
  EXPECT_FALSE(is_refused(ClaimRequest{.claims = {{.id = id, .home = one, .partition = one}}}, 6));
  assign.divided = 6;
  ASSERT_TRUE(host->serve(assign, {}).ok());
  host = nullptr;
  host = open();
  for (const Request& read : reads) EXPECT_FALSE(is_refused(read, 6)) << kind_of(read);
}

INSTANTIATE_TEST_SUITE_P(InThisProcess, ShardClientContract, testing::Values(&make_local));

}  // namespace
}  // namespace kin::router
