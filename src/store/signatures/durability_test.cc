// Power cuts, failing calls and rot, for the signature store and for kept values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/testing/durability.h"
#include "store/kept_values.h"
#include "store/signature_store.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;
using Operation = SimulatedDisk::Operation;

const fs::path kFolder = "/store";
constexpr std::uint32_t kStrangers = 20;

RecordId id_of(std::uint32_t record) {
  return RecordId(record);
}

// The common interface of both stores.
class RecordStore {
 public:
  virtual ~RecordStore() = default;
  virtual Status put(std::uint32_t record, std::string_view value) = 0;
  virtual void remove(std::uint32_t record) = 0;
  virtual Result<std::optional<std::string>> get(std::uint32_t record) const = 0;
  virtual std::map<std::uint32_t, std::string> get_batch(std::uint32_t end) const = 0;
  virtual Status flush() = 0;
  virtual Status clear() = 0;
  virtual std::uint64_t len() const = 0;
  virtual std::uint64_t read_errors() const = 0;
};

// Two pages in memory, of 1 KiB each.
class SmallSignatures final : public RecordStore {
 public:
  static constexpr std::size_t kWidth = 16;
  static constexpr bool kRemoves = true;
  static constexpr bool kClearIsDurable = false;

  static Result<std::unique_ptr<RecordStore>> open(Disk& disk) {
    KIN_TRY(auto store, TieredSignatureStore::open({.signature_bytes = kWidth,
                                                    .max_hot_signatures = 128,
                                                    .path = kFolder,
                                                    .disk = &disk}));
    return std::unique_ptr<RecordStore>(new SmallSignatures(std::move(store)));
  }
  static std::string value_of(std::uint32_t record, std::uint64_t version) {
    std::string value;
    append_le(value, mix64(record + version * 1'000'003));
    append_le(value, version);
    return value;
  }

  Status put(std::uint32_t record, std::string_view value) override {
    return store_->insert(id_of(record),
                          {reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
  }
  void remove(std::uint32_t record) override { EXPECT_TRUE(store_->remove(id_of(record))); }
  Result<std::optional<std::string>> get(std::uint32_t record) const override {
    KIN_TRY(const auto found, store_->get(id_of(record)));
    if (!found) return std::optional<std::string>();
    return std::optional(std::string(found->begin(), found->end()));
  }
  std::map<std::uint32_t, std::string> get_batch(std::uint32_t end) const override {
    std::vector<RecordId> ids;
    for (std::uint32_t record = 0; record < end; ++record) ids.push_back(id_of(record));
    std::vector<std::uint8_t> signatures(ids.size() * kWidth);
    std::vector<std::uint8_t> found(ids.size());
    EXPECT_TRUE(store_->get_batch(ids, signatures, found).ok());
    std::map<std::uint32_t, std::string> result;
    for (std::uint32_t record = 0; record < end; ++record) {
      const auto* at = signatures.data() + record * kWidth;
      if (found[record] != 0) result[record] = std::string(at, at + kWidth);
    }
    return result;
  }
  Status flush() override { return store_->flush(); }
  Status clear() override { return store_->clear(); }
  std::uint64_t len() const override { return store_->len(); }
  std::uint64_t read_errors() const override { return store_->stats().cold_read_errors; }

 private:
  explicit SmallSignatures(std::unique_ptr<TieredSignatureStore> store)
      : store_(std::move(store)) {}
  std::unique_ptr<TieredSignatureStore> store_;
};

// Values of up to 450 bytes, some of them longer than the write buffer.
class SmallValues final : public RecordStore {
 public:
  static constexpr bool kRemoves = false;
  static constexpr bool kClearIsDurable = true;

  static Result<std::unique_ptr<RecordStore>> open(Disk& disk) {
    KIN_TRY(auto values,
            KeptValues::open({.path = kFolder, .write_buffer_bytes = 300, .disk = &disk}));
    return std::unique_ptr<RecordStore>(new SmallValues(std::move(values)));
  }
  static std::string value_of(std::uint32_t record, std::uint64_t version) {
    const std::uint64_t drawn = mix64(record + version * 1'000'003);
    std::string value(drawn % 17 == 0 ? 450 : drawn % 90, ' ');
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(mix64(drawn + i));
    return value;
  }

  Status put(std::uint32_t record, std::string_view value) override {
    return values_->append(id_of(record), value);
  }
  void remove(std::uint32_t) override {}
  Result<std::optional<std::string>> get(std::uint32_t record) const override {
    return values_->get(id_of(record));
  }
  std::map<std::uint32_t, std::string> get_batch(std::uint32_t end) const override {
    std::vector<RecordId> ids;
    for (std::uint32_t record = 0; record < end; ++record) ids.push_back(id_of(record));
    std::map<std::uint32_t, std::string> result;
    values_->get_batch(ids, [&](RecordId id, std::string_view value) {
      result[static_cast<std::uint32_t>(id)] = std::string(value);
    });
    return result;
  }
  Status flush() override { return values_->flush(); }
  Status clear() override { return values_->clear(); }
  std::uint64_t len() const override { return values_->len(); }
  std::uint64_t read_errors() const override { return values_->stats().read_errors; }

 private:
  explicit SmallValues(std::unique_ptr<KeptValues> values) : values_(std::move(values)) {}
  std::unique_ptr<KeptValues> values_;
};

// A flush is atomic: after a crash the store holds exactly the contents of the last acknowledged
// flush, or of one that was tried since.
template <typename Store>
class RecordsUnderTest final : public StoreUnderTest {
 public:
  using Contents = std::map<std::uint32_t, std::uint64_t>;  // record → version of its value

  Status open(SimulatedDisk& disk) override {
    KIN_TRY(store_, Store::open(disk));
    const auto found = store_->get_batch(next_ + kStrangers);
    const auto is_it = [&](const Contents& contents) { return values_of(contents) == found; };
    const auto state = std::ranges::find_if(possible_, is_it);
    EXPECT_NE(state, possible_.end())
        << "of " << possible_.front().size() << " acknowledged values " << found.size()
        << " are found, or they are other ones";
    if (state != possible_.end()) current_ = *state;
    return Done{};
  }
  bool is_open() const override { return store_ != nullptr; }

  Status write_on(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      KIN_RETURN_IF_ERROR(change());
      if (round_ % 23 == 0) KIN_RETURN_IF_ERROR(flush());
    }
    return flush();
  }

  Status close() override {
    KIN_RETURN_IF_ERROR(flush());
    drop();
    return Done{};
  }

  // The destructor flushes too.
  void drop() override {
    if (store_ != nullptr) possible_.push_back(current_);
    store_.reset();
  }

  void expect_kept() override {
    ASSERT_EQ(store_->get_batch(next_ + kStrangers), values_of(current_));
    ASSERT_EQ(store_->len(), current_.size());
    expect_right_answers(0);
    ASSERT_EQ(store_->read_errors(), 0U);
  }

  std::optional<Hash128> expected() const override {
    std::string all;
    append_le(all, next_);
    for (const Contents& contents : possible_) {
      append_le(all, contents.size());
      for (const auto& [record, version] : contents) {
        append_le(all, record);
        append_le(all, version);
      }
    }
    return hash128(all);
  }

  // Answers are right or errors; the store either works as if nothing had happened, or refuses
  // every change.
  void expect_after(const Error&) override {
    expect_right_answers(SIZE_MAX);
    const Status first = write_on(10);
    if (first.ok()) return;
    EXPECT_FALSE(write_on(10).ok()) << "a store that refused to write does so again";
  }

  std::unique_ptr<StoreUnderTest> after_crash() const override {
    auto copy = std::make_unique<RecordsUnderTest>();
    copy->possible_ = possible_;
    copy->next_ = next_;
    copy->round_ = round_;
    return copy;
  }

  // Opens a damaged store that was closed: every answer is right, or a counted error.
  RotOutcome examine(SimulatedDisk& disk) const {
    auto opened = Store::open(disk);
    if (!opened.ok()) {
      EXPECT_TRUE(opened.error().code == Code::kDataLoss ||
                  opened.error().code == Code::kFailedPrecondition)
          << opened.error().message;
      EXPECT_THAT(opened.error().message, testing::HasSubstr(kFolder.string()));
      return RotOutcome::kRefused;
    }
    RecordsUnderTest damaged;
    damaged.store_ = std::move(*opened);
    damaged.current_ = possible_.back();
    damaged.next_ = next_;
    const std::size_t errors = damaged.expect_right_answers(SIZE_MAX);
    EXPECT_EQ(damaged.store_->read_errors(), errors);
    const auto expected = values_of(damaged.current_);
    const auto found = damaged.store_->get_batch(next_ + kStrangers);
    EXPECT_EQ(found.size(), expected.size() - errors);
    for (const auto& [record, value] : found) EXPECT_EQ(expected.at(record), value);
    return errors > 0 ? RotOutcome::kReported : RotOutcome::kUnnoticed;
  }

 private:
  static std::map<std::uint32_t, std::string> values_of(const Contents& contents) {
    std::map<std::uint32_t, std::string> values;
    for (const auto& [record, version] : contents)
      values[record] = Store::value_of(record, version);
    return values;
  }

  Status change() {
    const std::uint64_t drawn = mix64(++round_);
    if (round_ % 211 == 0) return clear();
    const bool old = !current_.empty() && drawn % 4 == 0;
    std::uint32_t record = next_;
    if (old) record = std::next(current_.begin(), drawn / 64 % current_.size())->first;
    if (old && Store::kRemoves && drawn % 16 == 0) {
      store_->remove(record);
      current_.erase(record);
      return Done{};
    }
    KIN_RETURN_IF_ERROR(store_->put(record, Store::value_of(record, round_)));
    current_[record] = round_;
    next_ = std::max(next_, record + 1);
    const auto value = store_->get(record);
    EXPECT_TRUE(!value.ok() || *value == Store::value_of(record, round_));
    return Done{};
  }

  Status flush() {
    possible_.push_back(current_);
    KIN_RETURN_IF_ERROR(store_->flush());
    possible_ = {current_};
    return Done{};
  }

  Status clear() {
    if (Store::kClearIsDurable) possible_.push_back({});
    const Status cleared = store_->clear();
    if (store_->len() == 0) current_.clear();
    if (cleared.ok() && Store::kClearIsDurable) possible_ = {Contents{}};
    return cleared;
  }

  // Expects the current contents from get(), with at most `errors` errors; returns their number.
  std::size_t expect_right_answers(std::size_t errors) const {
    std::size_t failed = 0;
    for (std::uint32_t record = 0; record < next_ + kStrangers; ++record) {
      const auto value = store_->get(record);
      const auto expected = current_.find(record);
      if (!value.ok()) {
        ++failed;
      } else if (expected == current_.end()) {
        EXPECT_FALSE(value->has_value()) << "record " << record << " was never written";
      } else {
        EXPECT_EQ(*value, Store::value_of(record, expected->second)) << "record " << record;
      }
    }
    EXPECT_LE(failed, errors);
    return failed;
  }

  std::unique_ptr<RecordStore> store_;
  Contents current_;
  std::vector<Contents> possible_{Contents{}};  // possible after a crash, acknowledged first
  std::uint32_t next_ = 0;                      // records from here on were never written
  std::uint64_t round_ = 0;
};

template <typename Store>
class RecordDurability : public testing::Test {
 protected:
  static auto fresh() { return std::make_unique<RecordsUnderTest<Store>>(); }

  // A closed store on `disk`, and what it holds.
  static std::unique_ptr<RecordsUnderTest<Store>> written(SimulatedDisk& disk) {
    auto store = fresh();
    EXPECT_TRUE(store->open(disk).ok());
    EXPECT_TRUE(store->write_on(100).ok());
    EXPECT_TRUE(store->close().ok());
    return store;
  }
};

struct StoreNames {
  template <typename Store>
  static std::string GetName(int) {
    return std::is_same_v<Store, SmallValues> ? "Values" : "Signatures";
  }
};
using Stores = testing::Types<SmallSignatures, SmallValues>;
TYPED_TEST_SUITE(RecordDurability, Stores, StoreNames);

constexpr std::uint64_t kCount = 240;

TYPED_TEST(RecordDurability, EverythingFlushedSurvivesAPowerCutAtEveryStep) {
  Durability(this->fresh()).cut_power_at_every_step(kCount);
}

TYPED_TEST(RecordDurability, ASecondRunSurvivesAPowerCutAtEveryStep) {
  Durability(this->fresh()).cut_power_at_every_step_of_a_second_run(130, 60);
}

TYPED_TEST(RecordDurability, EveryChangeMayFailOnce) {
  Durability durability(this->fresh());
  durability.fail_every_call({}, kCount);
  EXPECT_GT(durability.figures().faults, 80U / kStride);
}

TYPED_TEST(RecordDurability, TheDiskMayDieAtEveryChange) {
  Durability(this->fresh()).fail_every_call({.for_good = true}, kCount);
}

TYPED_TEST(RecordDurability, EveryKindOfCallMayFail) {
  Durability(this->fresh()).fail_every_kind_of_call(kCount);
}

TYPED_TEST(RecordDurability, NoChangeFailsWithoutAnError) {
  Durability(this->fresh())
      .expect_errors_of({Operation::kCreate, Operation::kAppend, Operation::kWriteAt,
                         Operation::kSync, Operation::kTruncate, Operation::kRename,
                         Operation::kMakeFolder, Operation::kSyncFolder},
                        kCount);
}

TYPED_TEST(RecordDurability, AFlippedBitInAnyByteGivesNoWrongAnswer) {
  SimulatedDisk disk;
  const auto store = this->written(disk);
  Rot rot(disk);
  rot.flip_bits({}, [&](SimulatedDisk& damaged) { return store->examine(damaged); });
  EXPECT_GT(rot.count(RotOutcome::kReported), 1000U);
  EXPECT_GT(rot.count(RotOutcome::kRefused), 50U);
}

TYPED_TEST(RecordDurability, AFileCutShortGivesNoWrongAnswer) {
  SimulatedDisk disk;
  const auto store = this->written(disk);
  Rot(disk).cut_files_short([&](SimulatedDisk& damaged) { return store->examine(damaged); });
}

TYPED_TEST(RecordDurability, LostAndExchangedFilesAreNoticed) {
  SimulatedDisk disk;
  const auto store = this->written(disk);
  Rot rot(disk);
  const auto examine = [&](SimulatedDisk& damaged) { return store->examine(damaged); };
  rot.lose_files(examine);
  rot.exchange_files(examine);
  EXPECT_EQ(rot.count(RotOutcome::kRefused), 3U);
}

}  // namespace
}  // namespace kin::store
