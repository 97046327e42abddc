#include "app/columns.h"

#include <gtest/gtest.h>

namespace kin::app {
namespace {

TEST(Columns, WideCharactersTakeTwo) {
  EXPECT_EQ(display_columns("news.jsonl"), 10U);
  EXPECT_EQ(display_columns("新闻.jsonl"), 10U);
  EXPECT_EQ(display_columns("ｎｅｗｓ"), 8U);
  EXPECT_EQ(display_columns("한글"), 4U);
  EXPECT_EQ(display_columns("😀"), 2U);
}

TEST(Columns, CombiningMarksTakeNone) {
  EXPECT_EQ(display_columns("e\u0301te\u0301"), 3U);
  EXPECT_EQ(display_columns("กี่"), 1U);
}

TEST(Columns, BytesThatAreNotUtf8TakeOneEach) {
  EXPECT_EQ(display_columns("a\xff\xe4z"), 4U);
  EXPECT_EQ(display_columns("\xe6\x96"), 2U);
}

TEST(Columns, TextIsCutBetweenCharacters) {
  EXPECT_EQ(cut_to_columns("short", 5), "short");
  EXPECT_EQ(cut_to_columns("longer", 5), "long…");
  // Two columns of the second character do not fit beside the ellipsis.
  EXPECT_EQ(cut_to_columns("新闻报", 4), "新…");
  EXPECT_EQ(cut_to_columns("新闻报", 1), "…");
  EXPECT_EQ(cut_to_columns("新闻报", 0), "");
}

TEST(Columns, WhatIsCutIsNeverWider) {
  const std::string text = "a新e\u0301😀\xff 한글 news";
  for (std::size_t columns = 0; columns <= display_columns(text); ++columns)
    EXPECT_LE(display_columns(cut_to_columns(text, columns)), columns);
}

}  // namespace
}  // namespace kin::app
