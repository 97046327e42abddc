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
        },
        [there] { return there; });
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
            .on_time = [this](std::chrono::nanoseconds time) { times_.push_back(time); },
            .staleness = &staleness_,
            .ask_copies_at = clock_.steady_now() + delay_,
            .may_hedge = [this] { return budget_ > 0 && budget_-- > 0; },
            .copies =
                [this] {
                  std::vector<KnownCopies::Copy> copies;
                  for (const Client& one : followers_) copies.push_back({.client = one});
                  return copies;
                },
            .on_silent = [this] { ++silences_; },
            .on_follower =
                [this](FollowerAsked why, FollowerEvent event) {
                  events_.push_back({why, event});
                }};
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
  milliseconds delay_{500};  // of the call to a follower
  int budget_ = 1;
  std::vector<std::chrono::nanoseconds> times_;
  std::vector<std::pair<FollowerAsked, FollowerEvent>> events_;
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

TEST_F(PatientCallTest, AFollowerAnswersForAnOwnerThatIsSlowerThanUsual) {
  delay_ = milliseconds{20};
  followers_ = {client(milliseconds{10}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{2'000}, entities(1))), "2");
  EXPECT_LT(passed(), milliseconds{40});
  EXPECT_EQ(staleness_.behind, milliseconds{300});
  EXPECT_EQ(silences_, 0) << "it is slow, not silent";
  EXPECT_EQ(looks_, 0);
  using enum FollowerEvent;
  const decltype(events_) won{{FollowerAsked::kSlow, kAsked}, {FollowerAsked::kSlow, kAnswered}};
  EXPECT_EQ(events_, won);
  ASSERT_EQ(times_.size(), 1U) << "the owner takes longer than so";
  EXPECT_GE(times_[0], milliseconds{30});
}

TEST_F(PatientCallTest, AnOwnerThatIsALittleSlowerThanUsualIsFasterThanTheFollower) {
  delay_ = milliseconds{20};
  followers_ = {client(milliseconds{30}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{25}, entities(1))), "1");
  EXPECT_FALSE(staleness_.behind);
  const decltype(events_) lost{{FollowerAsked::kSlow, FollowerEvent::kAsked}};
  EXPECT_EQ(events_, lost);
  EXPECT_EQ(times_, decltype(times_){milliseconds{25}});
}

TEST_F(PatientCallTest, WithoutABudgetASlowOwnerIsWaitedForUntilItIsSilent) {
  delay_ = milliseconds{20};
  budget_ = 0;
  followers_ = {client(milliseconds{10}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{400}, entities(1))), "1");
  EXPECT_TRUE(followers_[0]->asked.empty());
  EXPECT_EQ(ask(client(milliseconds{2'000}, entities(1))), "2");
  EXPECT_GE(passed(), milliseconds{900});
  EXPECT_EQ(silences_, 1);
  EXPECT_EQ(events_[0].first, FollowerAsked::kSilent);
}

TEST_F(PatientCallTest, ASecondFollowerTakesAnotherPartOfTheBudget) {
  delay_ = milliseconds{20};
  followers_ = {client(milliseconds{1}, kAway), client(milliseconds{10}, entities(2))};
  EXPECT_EQ(ask(client(milliseconds{400}, entities(1))), "1");
  EXPECT_TRUE(followers_[1]->asked.empty());
  budget_ = 2;
  EXPECT_EQ(ask(client(milliseconds{400}, entities(1))), "2");
}

TEST_F(PatientCallTest, AFollowerThatIsAskedAtOnceSaysNothingAboutTheOwner) {
  delay_ = milliseconds{0};
  followers_ = {client(milliseconds{1}, entities(2), milliseconds{300})};
  EXPECT_EQ(ask(client(milliseconds{4}, entities(1))), "2");
  EXPECT_TRUE(times_.empty());
  EXPECT_EQ(silences_, 0);
  EXPECT_EQ(events_[0].first, FollowerAsked::kSilent);
}

TEST_F(PatientCallTest, TheOwnersTimeCountsUntilItsReplyArrives) {
  const Client owner = client(milliseconds{30}, entities(1));
  PatientCall<GetRequest> call(*owner, request_, {.map_epoch = 7}, patience());
  clock_.advance(milliseconds{200});  // other calls are waited for
  EXPECT_TRUE(call.wait().ok());
  EXPECT_EQ(times_, decltype(times_){milliseconds{30}});
}

TEST_F(PatientCallTest, RefusalsAndErrorsSayNothingAboutTheTime) {
  ask(client(milliseconds{1}, refused(3)));
  ask(client(milliseconds{1}, kAway));
  EXPECT_TRUE(times_.empty());
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
