#include "data/convert/spool_pieces.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace kin::data {
namespace {

std::vector<std::string> pieces_of(const std::string& text, std::uint64_t bytes) {
  const auto folder = TemporaryFolder::create();
  const auto path = folder->path() / "records.jsonl";
  EXPECT_TRUE(write_file_atomically(path, text).ok());
  const auto paths = cut_into_pieces(path, bytes);
  EXPECT_TRUE(paths.ok());
  std::vector<std::string> pieces;
  for (const auto& piece : *paths) pieces.push_back(*read_file(piece));
  return pieces;
}

using Pieces = std::vector<std::string>;

TEST(SpoolPieces, EndWithARecord) {
  EXPECT_EQ(pieces_of("aa\nbb\ncc\n", 4), (Pieces{"aa\nbb\n", "cc\n"}));
  EXPECT_EQ(pieces_of("aa\nbb\ncc\n", 3), (Pieces{"aa\n", "bb\n", "cc\n"}));
  EXPECT_EQ(pieces_of("aa\nbb\ncc\n", 1), (Pieces{"aa\n", "bb\n", "cc\n"}));
}

TEST(SpoolPieces, OfAShortFileAreTheFile) {
  EXPECT_EQ(pieces_of("aa\nbb\n", 6), (Pieces{"aa\nbb\n"}));
  EXPECT_EQ(pieces_of("", 6), (Pieces{""}));
}

TEST(SpoolPieces, HaveRecordsThatAreLongerThanAPiece) {
  const std::string longer = std::string(700'000, 'x') + "\n";
  EXPECT_EQ(pieces_of("a\n" + longer + "b\n" + longer, 10),
            (Pieces{"a\n" + longer, "b\n" + longer}));
}

TEST(SpoolPieces, KeepALastLineWithoutAnEnd) {
  EXPECT_EQ(pieces_of("aa\nbbbb", 3), (Pieces{"aa\n", "bbbb"}));
}

}  // namespace
}  // namespace kin::data
