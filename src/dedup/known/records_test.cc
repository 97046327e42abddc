#include "dedup/known/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "dedup/fingerprint_parameters.h"
#include "dedup/known/sketcher.h"
#include "dedup/run.h"

namespace kin::dedup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
    data::ScanOptions all;
    all.columns = {"text"};
    all.optional_columns = 1;
    ASSERT_TRUE((*dataset)->scan(all, [](const auto&, int) { return Done{}; }).ok());
    const Status added =
        known.add({.inputs = **dataset, .keep = keep, .options = options_, .now = clock_.now()});
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

  // The same folder as the store of `kindred dedup --config`.
  store::LocalStoreOptions as_local_store() const {
    store::LocalStoreOptions where;
    where.folder = *options_.signature_store / store::kFingerprintsFolder;
    where.memory_bytes = 16 << 20;
    where.clock = &clock_;
    return where;
  }

  TemporaryFolder folder_ = *TemporaryFolder::create();
  DedupOptions options_;
  mutable ManualClock clock_;
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
  EXPECT_THAT(known->files(),
              ElementsAre(KnownRecords::File{0, (folder_.path() / "in.jsonl").string()}));
  EXPECT_THAT(texts(*known), ElementsAre("-:four five six", "a:one two three"));
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
  EXPECT_THAT(texts(*open()), ElementsAre("-:four five six", "a:one two three"));
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
  other.fields = {"title", "body"};
  EXPECT_THAT(refused(other), HasSubstr("--field 1 column, and this run has --field 2 columns"));
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

TEST_F(KnownRecordsTest, OfAnEarlierVersionAreRefusedWithTheRemedy) {
  std::filesystem::create_directories(*options_.signature_store);
  ASSERT_TRUE(write_file_atomically(*options_.signature_store / "known", "KINKNOWN and more").ok());
  const auto known = KnownRecords::open(options_);
  ASSERT_FALSE(known.ok());
  EXPECT_EQ(known.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(known.error().message, HasSubstr("name a new folder"));
  const auto store =
      store::open_local_fingerprints(as_local_store(), fingerprint_parameters(options_));
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("name a new folder"));
  options_.dry_run = true;
  EXPECT_EQ(KnownRecords::open(options_).error().message, known.error().message);
}

TEST_F(KnownRecordsTest, AreTheDocumentsOfALocalStore) {
  {
    const auto known = open();
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
  }
  auto store = *store::open_local_fingerprints(as_local_store(), fingerprint_parameters(options_));
  EXPECT_EQ(store->stats()->documents, 2U);
  EXPECT_THAT(*store->check(), IsEmpty());
  std::vector<std::string> keys;
  ASSERT_TRUE(store
                  ->each([&](const store::Fingerprint& document) -> Status {
                    keys.push_back(document.key);
                    return Done{};
                  })
                  .ok());
  EXPECT_THAT(keys, ElementsAre("a", key_of_record({}, "four five six")));
}

TEST_F(KnownRecordsTest, HaveTheDocumentsThatALocalStoreAdmitted) {
  {
    const auto known = open();
    add(*known, kThree, all_but_second());
    ASSERT_TRUE(known->commit().ok());
  }
  {
    auto store =
        *store::open_local_fingerprints(as_local_store(), fingerprint_parameters(options_));
    data::TextPacker packer;
    store::Fingerprint made;
    made.doc = doc_id_of("", "c");
    made.key = "c";
    made.packed_text = packer.pack("admitted");
    const std::vector<store::Fingerprint> batch = {made};
    const std::vector<std::size_t> chosen = {0};
    const auto never = [](const auto&, const auto&) -> Result<bool> { return false; };
    ASSERT_TRUE(store->admit(batch, *store->find(batch), chosen, never).ok());
  }
  {
    const auto known = open();
    EXPECT_THAT(texts(*known), ElementsAre("-:four five six", "a:one two three", "c:admitted"));
    add(*known, kThree, RecordSet(3, true));
    ASSERT_TRUE(known->commit().ok());
  }
  const std::string file = (folder_.path() / "in.jsonl").string();
  EXPECT_THAT(open()->files(),
              ElementsAre(KnownRecords::File{0, file},
                          KnownRecords::File{2, options_.signature_store->string()},
                          KnownRecords::File{3, file}));
}

TEST_F(KnownRecordsTest, WithOneIdAreDocumentsOfTheirOwn) {
  {
    const auto known = open();
    add(*known, "{\"id\": \"a\", \"text\": \"one\"}\n{\"id\": \"a\", \"text\": \"two\"}\n",
        RecordSet(2, true));
    ASSERT_TRUE(known->commit().ok());
  }
  EXPECT_THAT(texts(*open()), ElementsAre("a:one", "a:two"));
  auto store = *store::open_local_fingerprints(as_local_store(), fingerprint_parameters(options_));
  EXPECT_EQ(store->stats()->documents, 2U);
  EXPECT_THAT(*store->check(), IsEmpty());
}

TEST_F(KnownRecordsTest, WithoutATextHaveANumberAndNoDocument) {
  {
    const auto known = open();
    add(*known, "{\"id\": \"a\"}\n{\"id\": \"b\", \"text\": \"two\"}\n", RecordSet(2, true));
    ASSERT_TRUE(known->commit().ok());
  }
  {
    const auto known = open();
    EXPECT_EQ(known->size(), 2U);
    EXPECT_THAT(texts(*known), ElementsAre("b:two"));
  }
  auto store = *store::open_local_fingerprints(as_local_store(), fingerprint_parameters(options_));
  EXPECT_EQ(store->stats()->documents, 1U);
  EXPECT_THAT(*store->check(), IsEmpty());
}

TEST_F(KnownRecordsTest, OfOtherColumnsAreRefusedUnlessTheyAreOfOneKind) {
  open();
  options_.fields = {"body"};
  const auto known = KnownRecords::open(options_);
  ASSERT_FALSE(known.ok());
  EXPECT_THAT(known.error().message, HasSubstr("--field text, and this run has --field body"));
  options_.other_fields = true;
  EXPECT_NE(open(), nullptr);
  options_.fields = {"title", "body"};
  EXPECT_FALSE(KnownRecords::open(options_).ok());
}

TEST_F(KnownRecordsTest, ThatExpiredAreComparedWithNothing) {
  {
    const auto known = open();
    add(*known, kThree, RecordSet(3, true));  // made in 2020
    ASSERT_TRUE(known->commit().ok());
  }
  DedupJob job;
  job.inputs = {(folder_.path() / "in.jsonl").string()};
  job.output = folder_.path() / "out.jsonl";
  job.options = options_;
  Progress progress;
  EXPECT_EQ(run_dedup(job, progress, clock_)->kept, 0U);
  store::LocalStoreOptions expiring = as_local_store();
  expiring.retention = std::chrono::days(30);
  // As kindred dedup --config does, for a file with ttl_days.
  ASSERT_TRUE(store::open_local_fingerprints(expiring, fingerprint_parameters(options_)).ok());
  EXPECT_EQ(run_dedup(job, progress, clock_)->kept, 3U);
}

TEST_F(KnownRecordsTest, ADryRunMakesNothing) {
  options_.dry_run = true;
  EXPECT_EQ(open()->size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(*options_.signature_store));
}

}  // namespace
}  // namespace kin::dedup
