#include "router/node/move_row.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::router {
namespace {

MoveRow made() {
  return {.id = 0x6867666564636261,
          .state = MoveRow::State::kReceiving,
          .progress = {.copied = true, .next = "here", .lsn = 7, .entities = 8, .bytes = 9}};
}

// A change here is a change of format: raise the version and keep reading the old one.
TEST(MoveRowFormat, BytesOnDiskStayAsTheyWere) {
  const std::string bytes = encode(made());
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), std::string("\x02"
                                                           "abcdefgh\x01\x01\x01\x04\0\0\0here"
                                                           "\x07\0\0\0\0\0\0\0"
                                                           "\x08\0\0\0\0\0\0\0"
                                                           "\x09\0\0\0\0\0\0\0",
                                                           44));
}

TEST(MoveRowFormat, ReadsRowsWithoutCounts) {
  std::string bytes("\x01"
                    "abcdefgh\x01\x01\x01\x04\0\0\0here"
                    "\x07\0\0\0\0\0\0\0",
                    28);
  append_le(bytes, checksum(bytes));
  MoveRow row = made();
  row.progress.entities = row.progress.bytes = 0;
  EXPECT_EQ(*decode_move_row(bytes), row);
}

TEST(MoveRowFormat, DecodesWhatItEncodedAndFindsDamage) {
  EXPECT_EQ(*decode_move_row(encode(made())), made());
  EXPECT_EQ(*decode_move_row(encode(MoveRow{})), MoveRow{});
  const std::string bytes = encode(made());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    EXPECT_FALSE(decode_move_row(damaged).ok()) << i;
    EXPECT_FALSE(decode_move_row(bytes.substr(0, i)).ok()) << i;
  }
}

}  // namespace
}  // namespace kin::router
