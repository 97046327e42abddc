#include "dedup/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::dedup {
namespace {

using testing::HasSubstr;

TEST(Options, DefaultsAreVerifiedStarsWithRecall) {
  const DedupOptions options;
  ASSERT_TRUE(validate(options).ok());
  const auto banding = banding_of(options);
  ASSERT_TRUE(banding.ok());
  EXPECT_GE(sketch::candidate_probability(*banding, options.threshold), 0.99);
  EXPECT_EQ(options.verification, Verification::kExact);
  EXPECT_EQ(options.grouping, Grouping::kStar);
}

TEST(Options, NameWhatTheyDoNotKnow) {
  EXPECT_THAT(parse_detectors("exact,magic").error().message, HasSubstr("\"magic\""));
  EXPECT_THAT(parse_keep("newest").error().message, HasSubstr("newest:COLUMN"));
  EXPECT_FALSE(parse_grouping("cluster").ok());
  EXPECT_FALSE(parse_verification("maybe").ok());
}

TEST(Options, ReadTheirOwnNames) {
  for (const char* text : {"exact", "exact,minhash", "minhash,simhash,chunk"}) {
    EXPECT_EQ(to_string(*parse_detectors(text)), text);
  }
  for (const char* text : {"first", "longest", "newest:a.b", "oldest:date", "priority:rank"}) {
    EXPECT_EQ(to_string(*parse_keep(text)), text);
  }
}

TEST(Options, RefuseStreamWithAnotherRuleThanFirst) {
  DedupOptions options;
  options.grouping = Grouping::kStream;
  options.keep = *parse_keep("longest");
  EXPECT_THAT(validate(options).error().message, HasSubstr("--group star"));
}

TEST(Options, RefuseBandsThatNeedMoreHashes) {
  DedupOptions options;
  options.banding = sketch::Banding{.bands = 20, .rows = 13};
  EXPECT_THAT(validate(options).error().message, HasSubstr("--hashes 260"));
}

TEST(Options, EveryPresetIsValid) {
  for (const char* name : {"fineweb", "fastdedup", "nemo", "slimpajama"}) {
    DedupOptions options;
    ASSERT_TRUE(apply_preset(name, options).ok());
    EXPECT_TRUE(validate(options).ok()) << name;
  }
  DedupOptions options;
  EXPECT_FALSE(apply_preset("other", options).ok());
}

TEST(Options, FingerprintChangesWithWhatIsRemovedAndNotWithHow) {
  DedupOptions options;
  const std::uint64_t before = options_hash(options);
  options.threads = 7;
  options.max_memory = 1 << 30;
  EXPECT_EQ(options_hash(options), before);
  options.threshold = 0.81;
  EXPECT_NE(options_hash(options), before);
}

}  // namespace
}  // namespace kin::dedup
