#include "router/calls/patient_call.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/manual_clock.h"

namespace kin::router {
namespace {

using std::chrono::milliseconds;

// Answers each call after some time.
class ScriptedClient final : public ShardClient {
 public:
  ScriptedClient(ManualClock& clock, milliseconds time, Reply<Response> reply)
      : clock_(clock), time_(time), reply_(std::move(reply)) {}

  Started<Response> start(Request, const CallOptions& options) override {
    asked.push_back(options);
    const SteadyTime there = clock_.steady_now() + time_;
    const auto pass_to = [this](SteadyTime time) {
      if (time > clock_.steady_now()) clock_.advance(time - clock_.steady_now());
    };
    return Started<Response>(
        [this, there, pass_to, on_behind = options.on_behind] {
          pass_to(there);
          if (behind && on_behind) on_behind(*behind);
          return reply_;
        },
        [there, pass_to](SteadyTime until) {
          pass_to(std::min(there, until));
          return there <= until;
        });
  }

  std::vector<CallOptions> asked = {};
  std::optional<milliseconds> behind = {};  // as a follower says

 private:
  ManualClock& clock_;
  const milliseconds time_;
  const Reply<Response> reply_;
};

Reply<Response> entities(std::size_t count) {
  return std::variant<Response, Refused>(
      Response(Entities{.entities = std::vector<std::optional<index::StoredEntity>>(count)}));
}
Reply<Response> refused(std::uint64_t epoch) {
  return std::variant<Response, Refused>(Refused{.epoch = epoch});
}
const Error kAway{Code::kUnavailable, "the node is away"};

class PatientCallTest : public testing::Test {
 protected:
  using Client = std::shared_ptr<ScriptedClient>;
  Client client(milliseconds time, Reply<Response> reply, std::optional<milliseconds> behind = {}) {
    auto made = std::make_shared<ScriptedClient>(clock_, time, std::move(reply));
    made->behind = behind;
    return made;
  }
  Patience patience() {
    const SteadyTime silent_at = clock_.steady_now() + milliseconds{500};
    return {.clock = &clock_,
            .silent_at = silent_at,
            .look = [this] { return ++looks_, taken_over_; },
            .staleness = &staleness_,
            .ask_copies_at = silent_at,
            .copies =
                [this] {
                  std::vector<KnownCopies::Copy> copies;
                  for (const Client& one : followers_) copies.push_back({.client = one});
                  return copies;
                },
            .on_silent = [this] { ++silences_; }};
  }
  // How many entities the answer has; -1: refused; an error's message otherwise.
  std::string ask(const Client& owner) {
    PatientCall<GetRequest> call(*owner, request_, {.map_epoch = 7}, patience());
    const auto reply = call.wait();
    if (!reply.ok()) return reply.error().message;
    const auto* found = std::get_if<Entities>(&*reply);
    return found == nullptr ? "refused" : std::to_string(found->entities.size());
  }
  milliseconds passed() const {
    return std::chrono::duration_cast<milliseconds>(clock_.steady_now() - begun_);
  }

  ManualClock clock_;
  const SteadyTime begun_ = clock_.steady_now();
  const GetRequest request_;
  Staleness staleness_{.most = milliseconds{5'000}};
  std::vector<Client> followers_;
  int looks_ = 0;
  int silences_ = 0;
  bool taken_over_ = false;
};

TEST_F(PatientCallTest, NobodyElseIsAskedWhileTheOwnerAnswersInTime) {
  followers_ = {client(milliseconds{1}, entities(2))};
  EXPECT_EQ(ask(client(milliseconds{400}, entities(1))), "1");
  EXPECT_TRUE(followers_[0]->asked.empty());
  EXPECT_FALSE(staleness_.behind);
  EXPECT_EQ(looks_, 0);
}

TEST_F(PatientCallTest, AFollowerAnswersForASilentOwner) {
  followers_ = {client(milliseconds{10}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{2'000}, entities(1))), "2");
  EXPECT_LT(passed(), milliseconds{600});
  EXPECT_EQ(staleness_.behind, milliseconds{300});
  EXPECT_EQ(followers_[0]->asked[0].most_behind, milliseconds{5'000});
  EXPECT_EQ(silences_, 1);
}

TEST_F(PatientCallTest, AFollowerIsAskedAtOnceWhereTheOwnerIsAway) {
  followers_ = {client(milliseconds{10}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "2");
  EXPECT_LT(passed(), milliseconds{100});
  EXPECT_EQ(silences_, 0);
}

TEST_F(PatientCallTest, TheOldestStateIsTold) {
  staleness_.behind = milliseconds{700};  // of another part of the read
  followers_ = {client(milliseconds{10}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "2");
  EXPECT_EQ(staleness_.behind, milliseconds{700});
}

TEST_F(PatientCallTest, AFollowerThatBecameTheOwnerIsNotOld) {
  followers_ = {client(milliseconds{10}, entities(2))};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "2");
  EXPECT_FALSE(staleness_.behind);
}

TEST_F(PatientCallTest, AnOwnerThatIsLateIsFasterThanAFollowerThatIsLater) {
  followers_ = {client(milliseconds{900}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{800}, entities(1))), "1");
  EXPECT_FALSE(staleness_.behind);
}

TEST_F(PatientCallTest, FollowersThatCannotAnswerArePassedOver) {
  followers_ = {client(milliseconds{1}, kAway), client(milliseconds{1}, refused(6)),
                client(milliseconds{1}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "2");
  followers_.pop_back();
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "the node is away");
}

TEST_F(PatientCallTest, AFollowerThatKnowsANewerMapSaysSo) {
  followers_ = {client(milliseconds{1}, refused(8))};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "refused");
}

TEST_F(PatientCallTest, OwnersThatRefuseAreBelieved) {
  followers_ = {client(milliseconds{1}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{1}, refused(3))), "refused");
  EXPECT_TRUE(followers_[0]->asked.empty());
}

TEST_F(PatientCallTest, ReadsOfTheNewestStateWaitForTheOwner) {
  staleness_.most.reset();
  followers_ = {client(milliseconds{1}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{1}, kAway)), "the node is away");
  EXPECT_EQ(ask(client(milliseconds{1'500}, entities(1))), "1");
  EXPECT_TRUE(followers_[0]->asked.empty());
}

TEST_F(PatientCallTest, NoFollowerIsAskedToWrite) {
  followers_ = {client(milliseconds{1}, entities(2), milliseconds{300})};
  const Client owner = client(milliseconds{1}, kAway);
  const WriteRequest write;
  PatientCall<WriteRequest> call(*owner, write, {}, patience());
  EXPECT_FALSE(call.wait().ok());
  EXPECT_TRUE(followers_[0]->asked.empty());
}

TEST_F(PatientCallTest, ACallToAProcessThatLostTheShardIsGivenUp) {
  taken_over_ = true;
  EXPECT_EQ(ask(client(milliseconds{2'000}, entities(1))),
            "another process has taken the shard over");
  EXPECT_LT(passed(), milliseconds{600});
}

}  // namespace
}  // namespace kin::router
