#include "store/ledger/format.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace kin::store {
namespace {

LedgerEntry example() {
  LedgerEntry made;
  made.doc = doc_id_of("afp", "a1");
  made.key = "a1";
  made.source = "afp";
  made.run = "monday";
  made.worker = "part 3";
  made.row = 17;
  made.at = WallTime(std::chrono::milliseconds(1'700'000'000'123));
  made.outcome = Outcome::kRejected;
  made.reason = "0.91 alike";
  made.duplicate_of = doc_id_of("afp", "a0");
  made.method = "minhash";
  made.similarity = 0.91;
  made.version = "v1-0f6b079b";
  return made;
}

TEST(LedgerFormat, GivesBackWhatWasEncoded) {
  EXPECT_EQ(*decode_entry(encode_entry(example())), example());
  EXPECT_EQ(*decode_entry(encode_entry({})), LedgerEntry{});
}

// Entries are on disk in every ledger: these bytes stay the same for ever.
TEST(LedgerFormat, StaysAsItIs) {
  EXPECT_EQ(encode_entry(example()).size(), 140U);
  EXPECT_EQ(hash64(encode_entry(example())), 3431368326894837133U);
}

TEST(LedgerFormat, NoticesEveryFlippedBitAndEveryCut) {
  const std::string good = encode_entry(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(decode_entry(bad).ok()) << i;
    EXPECT_FALSE(decode_entry(good.substr(0, i)).ok()) << i;
  }
}

TEST(LedgerFormat, OutcomesHaveNames) {
  for (const Outcome outcome : {Outcome::kAccepted, Outcome::kRejected})
    EXPECT_EQ(*parse_outcome(name_of(outcome)), outcome);
  EXPECT_FALSE(parse_outcome("kept").ok());
}

}  // namespace
}  // namespace kin::store
