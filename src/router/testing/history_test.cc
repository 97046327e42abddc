#include "router/testing/history.h"

#include <gtest/gtest.h>

namespace kin::router {
namespace {

using Kind = Operation::Kind;

class HistoryTest : public testing::Test {
 protected:
  static SteadyTime at(int second) { return SteadyTime{std::chrono::seconds{second}}; }
  void did(Kind kind, KeyState state, int begun, std::optional<int> ended) {
    Operation operation{.kind = kind, .state = state, .begun = at(begun)};
    if (ended) operation.ended = at(*ended);
    history_.add(1, operation);
  }
  bool explained() const { return !history_.violation(); }

  History history_;
};

TEST_F(HistoryTest, AReadSeesTheLastWriteThatEndedBeforeItBegan) {
  did(Kind::kWrite, 7, 1, 2);
  did(Kind::kSees, 7, 3, 4);
  EXPECT_TRUE(explained());
  did(Kind::kSees, 0, 5, 6);
  EXPECT_FALSE(explained());
}

TEST_F(HistoryTest, AReadDuringAWriteMaySeeEither) {
  did(Kind::kWrite, 7, 1, 9);
  did(Kind::kSees, 0, 2, 3);
  did(Kind::kSees, 7, 4, 5);
  EXPECT_TRUE(explained());
  did(Kind::kSees, 0, 6, 7);  // but not the older one after the newer
  EXPECT_FALSE(explained());
}

TEST_F(HistoryTest, AWriteOfUnknownOutcomeMayHappenLateOrNever) {
  did(Kind::kWrite, 7, 1, {});
  did(Kind::kSees, 0, 5, 6);
  EXPECT_TRUE(explained());
  did(Kind::kSees, 7, 8, 9);
  EXPECT_TRUE(explained());
  did(Kind::kWrite, 0, 10, 11);
  did(Kind::kSees, 7, 12, 13);  // it happens once, and has happened
  EXPECT_FALSE(explained());
}

TEST_F(HistoryTest, WhatWasDeletedDoesNotReturn) {
  did(Kind::kWrite, 7, 1, 2);
  did(Kind::kWrite, 0, 3, 4);
  did(Kind::kSeesOther, 7, 5, 6);
  EXPECT_TRUE(explained());
  did(Kind::kExists, 0, 7, 8);
  EXPECT_FALSE(explained());
}

TEST_F(HistoryTest, OperationsAtTheSameTimeMayComeInAnyOrder) {
  did(Kind::kWrite, 1, 1, 5);
  did(Kind::kWrite, 2, 1, 5);
  did(Kind::kSees, 1, 6, 7);
  EXPECT_TRUE(explained());
  did(Kind::kSees, 2, 8, 9);
  EXPECT_FALSE(explained());
}

}  // namespace
}  // namespace kin::router
