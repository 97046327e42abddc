#include "dedup/known/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace kin::dedup {
namespace {

using testing::HasSubstr;

class KnownRecordsTest : public testing::Test {
 protected:
  KnownRecordsTest() {
    options_.signature_store = folder_.path() / "store";
    options_.append = true;
    options_.threads = 2;
    options_.id_column = "id";
  }

  std::unique_ptr<KnownRecords> open() {
    auto known = KnownRecords::open(options_);
    EXPECT_TRUE(known.ok()) << (known.ok() ? "" : known.error().message);
    return known.ok() ? std::move(*known) : nullptr;
  }

  // Adds the records of `lines` that are in `keep`, without making them count.
  void add(KnownRecords& known, const std::string& lines, const RecordSet& keep) {
    const std::filesystem::path path = folder_.path() / "in.jsonl";
    ASSERT_TRUE(write_file_atomically(path, lines).ok());
    auto files = data::find_inputs(std::vector<std::string>{path.string()}, folder_.path());
    auto dataset = data::Dataset::open(std::move(*files), {});
    ASSERT_TRUE(
        (*dataset)->scan({.columns = {"text"}}, [](const auto&, int) { return Done{}; }).ok());
    const Status added = known.add(**dataset, keep, options_, nullptr);
    ASSERT_TRUE(added.ok()) << added.error().message;
  }

  std::vector<std::string> texts(const KnownRecords& known) {
    std::vector<RecordId> wanted;
    for (std::uint64_t i = 0; i < known.size(); ++i) wanted.push_back(record_id(i));
    std::vector<std::string> found;
    EXPECT_TRUE(known
                    .read(wanted,
                          [&](RecordId, std::optional<std::string_view> id, std::string_view text) {
                            found.push_back(std::string(id.value_or("-")) + ":" +
                                            std::string(text));
                          })
                    .ok());
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  DedupOptions options_;
};

constexpr const char* kThree =
    "{\"id\": \"a\", \"text\": \"one two three\"}\n{\"id\": \"b\", \"text\": \"gone\"}\n"
    "{\"text\": \"four five six\"}\n";

RecordSet all_but_second() {
  RecordSet keep(3, true);
  keep.erase(record_id(1));
  return keep;
}

TEST_F(KnownRecordsTest, HaveWhatARunKept) {
  {
    const auto known = open();
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
    EXPECT_EQ(known->size(), 0U);  // for this run
  }
  const auto known = open();
  EXPECT_EQ(known->size(), 2U);
  EXPECT_EQ(known->manifest().files.size(), 1U);
  EXPECT_THAT(texts(*known), testing::ElementsAre("-:four five six", "a:one two three"));
}

TEST_F(KnownRecordsTest, DoNotCountBeforeTheyAreCommitted) {
  {
    const auto known = open();
    add(*known, kThree, RecordSet(3, true));
  }
  {
    const auto known = open();
    EXPECT_EQ(known->size(), 0U);
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
  }
  EXPECT_THAT(texts(*open()), testing::ElementsAre("-:four five six", "a:one two three"));
}

TEST_F(KnownRecordsTest, OfOtherOptionsAreRefusedByTheFlag) {
  {
    const auto known = open();
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
  }
  const auto refused = [&](const DedupOptions& options) {
    const auto known = KnownRecords::open(options);
    return known.ok() ? std::string() : known.error().message;
  };
  DedupOptions other = options_;
  other.threshold = 0.7;
  EXPECT_THAT(refused(other), HasSubstr("--threshold 0.8"));
  other = options_;
  other.fields = {"body"};
  EXPECT_THAT(refused(other), HasSubstr("--field text"));
  other = options_;
  other.hashes = 256;
  EXPECT_THAT(refused(other), HasSubstr("--hashes 128"));
  other = options_;
  other.exact_normalization = other.shingles.normalization;
  EXPECT_THAT(refused(other), HasSubstr("--normalize standard by default"));
  other = options_;
  other.detectors.minhash = false;
  EXPECT_THAT(refused(other), HasSubstr("--by exact,minhash"));
  other = options_;
  other.keep.kind = KeepPolicy::Kind::kLongest;  // not a setting of the store
  EXPECT_EQ(refused(other), "");
}

TEST_F(KnownRecordsTest, ThatAreDamagedAreRefused) {
  {
    const auto known = open();
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
  }
  const std::filesystem::path path = *options_.signature_store / kKnownName;
  std::string bytes = *read_file(path);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  ASSERT_TRUE(write_file_atomically(path, bytes).ok());
  EXPECT_EQ(KnownRecords::open(options_).error().code, Code::kDataLoss);
}

TEST_F(KnownRecordsTest, ADryRunMakesNothing) {
  options_.dry_run = true;
  EXPECT_EQ(open()->size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(*options_.signature_store));
}

}  // namespace
}  // namespace kin::dedup
