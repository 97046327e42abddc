#include "dedup/cut_options.h"

#include <gtest/gtest.h>

#include "dedup/options.h"

namespace kin::dedup {
namespace {

TEST(CutOptions, AreParsedFromTheirNames) {
  for (const char* name : {"lines", "paragraphs", "substring:50", "substring:200b"}) {
    const auto cut = parse_cut(name);
    ASSERT_TRUE(cut.ok() && *cut) << name;
    EXPECT_EQ(to_string(**cut), name);
  }
  EXPECT_FALSE(parse_cut("minhash")->has_value());
  for (const char* name : {"substring", "substring:", "substring:1", "substring:x", "substring:7b",
                           "substring:50w", "substring:99999999999"}) {
    EXPECT_FALSE(parse_cut(name).ok()) << name;
  }
}

TEST(CutOptions, TakeLengthsInCharactersOrWords) {
  CutOptions cut;
  ASSERT_TRUE(parse_min_length("4w", cut).ok());
  EXPECT_TRUE(cut.min_in_words);
  EXPECT_EQ(cut.min_length, 4U);
  ASSERT_TRUE(parse_min_length("30", cut).ok());
  EXPECT_FALSE(cut.min_in_words);
  EXPECT_EQ(cut.min_length, 30U);
  EXPECT_FALSE(parse_min_length("many", cut).ok());
  EXPECT_FALSE(parse_repeats_keep("last", cut).ok());
}

TEST(CutOptions, JoinTheDetectorsOfAList) {
  DedupOptions options;
  ASSERT_TRUE(parse_by("exact,lines", options).ok());
  EXPECT_TRUE(options.detectors.exact);
  EXPECT_FALSE(options.detectors.minhash);
  EXPECT_EQ(by_of(options), "exact,lines");
  ASSERT_TRUE(parse_by("substring:50", options).ok());
  EXPECT_FALSE(options.detectors.any());
  EXPECT_FALSE(removes_records(options));
  EXPECT_FALSE(parse_by("lines,paragraphs", options).ok());
  EXPECT_FALSE(parse_by("lines,minhsah", options).ok());
}

TEST(CutOptions, RefuseWhatCannotBeCombined) {
  DedupOptions options;
  ASSERT_TRUE(parse_by("lines", options).ok());
  EXPECT_TRUE(validate(options).ok());
  options.cut->repeats = 1;
  EXPECT_FALSE(validate(options).ok());
  options.cut->repeats = 2;
  options.fields = {"messages[].content"};
  EXPECT_FALSE(validate(options).ok());
  options.fields = {"text"};
  options.against = {"old.jsonl"};
  EXPECT_FALSE(validate(options).ok());
  options.contains = 0.8;
  EXPECT_TRUE(validate(options).ok());
  options.tag = "dup_";
  EXPECT_FALSE(validate(options).ok());
}

}  // namespace
}  // namespace kin::dedup
