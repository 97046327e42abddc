#include "base/ordered_places.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kin {
namespace {

TEST(OrderedPlaces, PiecesLieInTheOrderOfTheirNumbersWhicheverIsReadyFirst) {
  OrderedPlaces places(10);
  std::vector<std::uint64_t> taken(3);
  {
    std::vector<std::jthread> threads;
    for (const std::uint64_t piece : {2, 1, 0}) {
      threads.emplace_back([&, piece] { taken[piece] = places.take(piece, piece + 1).value(); });
    }
  }
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{10, 11, 13}));
  EXPECT_EQ(places.end(), 16U);
}

TEST(OrderedPlaces, APieceDoesNotWaitForOneThatFailed) {
  OrderedPlaces places(0);
  std::optional<std::uint64_t> place = 1;
  {
    const std::jthread waiting([&] { place = places.take(1, 5); });
    places.fail();
  }
  EXPECT_FALSE(place.has_value());
}

}  // namespace
}  // namespace kin
