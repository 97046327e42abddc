#include "store/local_documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/durability.h"
#include "data/text_packer.h"
#include "store/testing/documents.h"

namespace kin::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Additions = LocalDocuments::Additions;
using Number = LocalDocuments::Number;

LocalStoreOptions in_folder(const TemporaryFolder& folder) {
  return {.folder = folder.path() / "store", .memory_bytes = 16 << 20};
}

Additions::Addition added(Number number, const std::string& key) {
  Fingerprint made = document(key);
  made.simhash = number + 1;
  made.packed_text = data::TextPacker().pack("the text of " + key);
  return {.number = number, .document = std::move(made)};
}

std::vector<std::string> keys_of(const LocalDocuments& documents) {
  std::vector<std::string> keys;
  EXPECT_TRUE(documents
                  .each_with_text([&](Number, const Fingerprint& document) -> Status {
                    EXPECT_FALSE(document.packed_text.empty());
                    keys.push_back(document.key);
                    return Done{};
                  })
                  .ok());
  return keys;
}

TEST(LocalDocuments, AdditionsCountWhenTheyAreCommitted) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  {
    auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
    auto additions = *documents->begin_additions(3);
    ASSERT_TRUE(additions->put(std::vector{added(2, "c"), added(0, "a")}).ok());
    ASSERT_TRUE(additions->put(std::vector<Additions::Addition>{{.number = 1}}).ok());
    EXPECT_EQ(documents->next(), 0U);
    EXPECT_THAT(keys_of(*documents), IsEmpty());
    ASSERT_TRUE(additions->commit(std::vector<LocalDocuments::Origin>{{0, 3, "day1"}}).ok());
  }
  auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
  EXPECT_EQ(documents->next(), 3U);
  EXPECT_EQ(documents->size(), 2U);
  EXPECT_EQ(documents->longest_text(), std::string("the text of a").size());
  EXPECT_THAT(keys_of(*documents), ElementsAre("a", "c"));
  EXPECT_THAT(*documents->origins(), ElementsAre(LocalDocuments::Origin{0, 3, "day1"}));
  std::vector<Number> visited;
  ASSERT_TRUE(documents
                  ->each_keys(0, 3,
                              [&](Number number, const FingerprintKeys& keys) -> Status {
                                EXPECT_EQ(keys.simhash, number + 1);
                                visited.push_back(number);
                                return Done{};
                              })
                  .ok());
  EXPECT_THAT(visited, ElementsAre(0, 2));
}

TEST(LocalDocuments, AdditionsWithGapsAreNotCommitted) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
  auto additions = *documents->begin_additions(2);
  ASSERT_TRUE(additions->put(std::vector{added(1, "b")}).ok());
  EXPECT_FALSE(additions->commit({}).ok());
  EXPECT_EQ(documents->next(), 0U);
}

TEST(LocalDocuments, AdditionsThatWereNotCommittedLeaveNothing) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  {
    auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
    auto additions = *documents->begin_additions(1);
    ASSERT_TRUE(additions->put(std::vector{added(0, "a")}).ok());
    ASSERT_TRUE(additions->commit({}).ok());
    auto lost = *documents->begin_additions(3);
    ASSERT_TRUE(lost->put(std::vector{added(1, "b"), added(2, "c")}).ok());
  }
  auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
  EXPECT_THAT(keys_of(*documents), ElementsAre("a"));
  EXPECT_FALSE(documents->read({1}, false).ok());
  // The SimHash of "b".
  std::vector<Number> numbers;
  ASSERT_TRUE(documents->append_simhash_matches(2, numbers).ok());
  EXPECT_THAT(std::set<Number>(numbers.begin(), numbers.end()), ElementsAre(0));
}

TEST(LocalDocuments, AMissingRowIsAnError) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  auto documents = *LocalDocuments::open(in_folder(folder), some_parameters());
  const auto visit = [](Number, const FingerprintKeys&) -> Status { return Done{}; };
  EXPECT_EQ(documents->each_keys(0, 1, visit).error().code, Code::kDataLoss);
}

TEST(LocalDocuments, RememberTheRetentionTheyWereLastOpenedWith) {
  const TemporaryFolder folder = *TemporaryFolder::create();
  LocalStoreOptions with = in_folder(folder);
  with.retention = std::chrono::days(90);
  LocalStoreOptions unknown = in_folder(folder);
  unknown.remembers_retention = true;
  const auto retention = [](const LocalStoreOptions& options) {
    return (*LocalDocuments::open(options, some_parameters()))->retention();
  };
  EXPECT_EQ(retention(unknown), std::nullopt);
  EXPECT_EQ(retention(with), std::chrono::days(90));
  EXPECT_EQ(retention(unknown), std::chrono::days(90));
  EXPECT_EQ(retention(in_folder(folder)), std::nullopt);
  EXPECT_EQ(retention(unknown), std::nullopt);
}

// Adds pairs of documents on a simulated disk. A pair is there as a whole or not at all.
class AdditionsUnderTest final : public StoreUnderTest {
 public:
  Status open(SimulatedDisk& disk) override {
    LocalStoreOptions options;
    options.folder = "store";
    options.engine = kv::StoreOptions::Engine::kLog;
    options.disk = &disk;
    KIN_TRY(documents_, LocalDocuments::open(options, some_parameters()));
    return Done{};
  }
  bool is_open() const override { return documents_ != nullptr; }
  Status write_on(std::uint64_t count) override {
    for (std::uint64_t done = 0; done < count; done += 2) {
      const Number first = documents_->next();
      EXPECT_TRUE(first == kept_ || first == unsure_) << first;
      kept_ = unsure_ = first;  // what was found is durable
      KIN_TRY(auto additions, documents_->begin_additions(first + 2));
      KIN_RETURN_IF_ERROR(additions->put(std::vector{added(first + 1, "b")}));
      KIN_RETURN_IF_ERROR(additions->put(std::vector{added(first, "a")}));
      unsure_ = first + 2;
      KIN_RETURN_IF_ERROR(
          additions->commit(std::vector<LocalDocuments::Origin>{{first, first + 2, "file"}}));
      kept_ = unsure_;
    }
    return Done{};
  }
  Status close() override {
    documents_.reset();
    return Done{};
  }
  void drop() override { documents_.reset(); }
  void expect_kept() override {
    const Number now = documents_->next();
    EXPECT_TRUE(now == kept_ || now == unsure_) << now;
    kept_ = unsure_ = now;
    EXPECT_EQ(keys_of(*documents_).size(), now);
    EXPECT_EQ(documents_->origins()->size(), now / 2);
  }
  std::optional<Hash128> expected() const override {
    std::string all;
    append_le(all, kept_);
    append_le(all, unsure_);
    return hash128(all);
  }
  void expect_after(const Error& error) override {
    EXPECT_TRUE(error.code == Code::kUnavailable || error.code == Code::kResourceExhausted ||
                error.code == Code::kFailedPrecondition)
        << error.message;
  }
  std::unique_ptr<StoreUnderTest> after_crash() const override {
    auto copy = std::make_unique<AdditionsUnderTest>();
    copy->kept_ = kept_;
    copy->unsure_ = unsure_;
    return copy;
  }

 private:
  std::unique_ptr<LocalDocuments> documents_;
  Number kept_ = 0;    // acknowledged, or found after a crash
  Number unsure_ = 0;  // the same, with a commit that failed
};

TEST(LocalDocuments, AdditionsSurvivePowerCutsWhole) {
  Durability durability(std::make_unique<AdditionsUnderTest>());
  durability.cut_power_at_every_step(12);
}

TEST(LocalDocuments, AdditionsSurviveFailingCalls) {
  Durability durability(std::make_unique<AdditionsUnderTest>());
  durability.fail_every_call({}, 12);
  durability.fail_every_call({.for_good = true}, 12);
}

}  // namespace
}  // namespace kin::store
