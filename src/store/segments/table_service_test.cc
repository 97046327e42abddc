// Tables in a bucket of a real server: merges, clean-ups, workers that die or sleep at any point,
// and wrong bytes.
#include "store/segments/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "base/random.h"
#include "base/testing/manual_clock.h"
#include "store/segments/upkeep.h"
#include "store/testing/places.h"

namespace kin::store {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;

// The calls between a table and its bucket.
struct Traffic {
  std::mutex mutex = {};
  int calls_left = 1'000'000;  // then all calls fail: the worker is dead
  int calls = 0;
  std::function<void(const std::string& name)> before_create = {};
  std::uint64_t smallest_range = ~0ULL;  // of those that do not end with the object
  std::map<std::string, std::uint64_t> sizes = {};
};

// Passes everything on to the bucket of a server.
class WatchedBucket final : public cloud::ObjectStore {
 public:
  WatchedBucket(std::unique_ptr<cloud::ObjectStore> bucket, Traffic& traffic)
      : bucket_(std::move(bucket)), traffic_(traffic) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    KIN_RETURN_IF_ERROR(pass());
    return bucket_->get(name);
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const cloud::ByteRange> ranges) override {
    KIN_RETURN_IF_ERROR(pass());
    for (const cloud::ByteRange& range : ranges) note(name, range);
    return bucket_->get_ranges(name, ranges);
  }
  Result<bool> create(const std::string& name, std::string bytes) override {
    KIN_RETURN_IF_ERROR(pass());
    if (traffic_.before_create) {
      const auto before = std::exchange(traffic_.before_create, {});
      before(name);
    }
    return bucket_->create(name, std::move(bytes));
  }
  Status upload(const std::string& name, const cloud::ObjectSource& source) override {
    KIN_RETURN_IF_ERROR(pass());
    return bucket_->upload(name, source);
  }
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override {
    KIN_RETURN_IF_ERROR(pass());
    return bucket_->list(prefix, most, next);
  }
  Status remove(std::span<const std::string> names) override {
    KIN_RETURN_IF_ERROR(pass());
    return bucket_->remove(names);
  }

 private:
  void note(const std::string& name, const cloud::ByteRange& range) {
    const std::scoped_lock lock(traffic_.mutex);
    const auto size = traffic_.sizes.find(name);
    if (size != traffic_.sizes.end() && range.offset + range.size < size->second)
      traffic_.smallest_range = std::min(traffic_.smallest_range, range.size);
  }
  Status pass() {
    const std::scoped_lock lock(traffic_.mutex);
    if (traffic_.calls == traffic_.calls_left) return Error{Code::kUnavailable, "killed"};
    ++traffic_.calls;
    return Done{};
  }

  const std::unique_ptr<cloud::ObjectStore> bucket_;
  Traffic& traffic_;
};

using Model = std::map<std::string, std::string>;

class SegmentTableTest : public testing::Test {
 protected:
  std::unique_ptr<cloud::ObjectStore> bucket() {
    const S3StoreOptions options = area_.options({}, clock_);
    return cloud::open_s3_objects(
        std::make_unique<cloud::S3Client>(options.cloud, options.bucket, clock_, ++seed_),
        options.prefix);
  }
  Result<std::unique_ptr<SegmentTable>> open(Traffic& traffic, std::uint64_t cache = 1 << 30) {
    TableOptions options;
    options.cache_folder = area_.cache();
    options.cache_bytes = cache;
    options.clock = &clock_;
    options.seed = ++seed_;
    return SegmentTable::open(std::make_unique<WatchedBucket>(bucket(), traffic), options, "test");
  }
  std::unique_ptr<SegmentTable> open() { return *open(traffic_); }

  // Writes a change of the keys to one value.
  static Result<bool> write(SegmentTable& table, const std::vector<std::string>& keys,
                            const std::string& value) {
    TableChange change(table);
    KIN_TRY(ViewPtr view, table.refresh());
    for (;;) {
      std::vector<SegmentEntry> entries;
      for (const std::string& key : keys) entries.push_back({key, value});
      change.set(entries);
      KIN_TRY(const bool done, change.commit(*view, 1));
      if (done) break;
      KIN_TRY(view, table.refresh());
    }
    table.keep_up(change.written());
    return true;
  }
  static Model contents(SegmentTable& table) {
    Model model;
    const ViewPtr view = *table.refresh();
    EXPECT_TRUE(table
                    .scan(*view, "",
                          [&](std::string_view key, std::string_view value) -> Result<bool> {
                            model.emplace(key, value);
                            return true;
                          })
                    .ok());
    return model;
  }
  static std::optional<std::string> value_of(SegmentTable& table, const std::string& key) {
    const auto values = SegmentTable::get(**table.refresh(), std::span(&key, 1));
    EXPECT_TRUE(values.ok()) << values.error().message;
    return values.ok() && !(*values)[0].empty() ? std::optional((*values)[0].back()) : std::nullopt;
  }
  std::vector<std::string> objects() {
    std::string next;
    return *bucket()->list("", 1'000, next);
  }

  S3Area area_{"S3rver"};
  ManualClock clock_;
  std::uint64_t seed_ = 0;
  Traffic traffic_;
};

TEST_F(SegmentTableTest, ManyChangesBecomeFewSegmentsWithTheSameContents) {
  const auto table = open();
  Model model;
  Random random(3);
  for (int i = 0; i < 70; ++i) {
    std::vector<std::string> keys = {"k" + std::to_string(random.below(100)),
                                     "l" + std::to_string(i)};
    for (const std::string& key : keys) model[key] = std::to_string(i);
    ASSERT_TRUE(write(*table, keys, std::to_string(i)).ok());
  }
  EXPECT_LE(table->current()->segments.size(), 14U);
  EXPECT_EQ(table->current()->manifest.records, 70U);
  EXPECT_EQ(contents(*table), model);
  Traffic other;
  const auto reader = *open(other);
  EXPECT_EQ(other.calls, 2) << "opening lists and reads one manifest";
  for (const auto& [key, value] : model) EXPECT_EQ(value_of(*reader, key), value);
  EXPECT_EQ(value_of(*reader, "absent"), std::nullopt);
  EXPECT_EQ(table->keep_up_failures(), 0U);
}

// Every change writes two keys, so that half of it would be noticed.
TEST_F(SegmentTableTest, AWorkerThatDiesBeforeAnyRequestLeavesNothingHalfVisible) {
  const auto table = open();
  Model model;
  int number = 0;
  const auto keys_of = [](int n) {
    return std::vector<std::string>{"a" + std::to_string(n), "b" + std::to_string(n)};
  };
  int finished = 0;
  for (int calls = 0; finished < 3; ++calls) {
    // It opens, makes changes until a merge is due, and a clean-up.
    Traffic traffic{.calls_left = calls};
    auto dying = open(traffic);
    std::optional<int> unsure;
    for (int i = 0; dying && i < 9 && !unsure; ++i) {
      if (i == 8) clock_.advance(2h);
      const int mine = ++number;
      if (write(**dying, keys_of(mine), std::to_string(mine)).ok()) {
        for (const std::string& key : keys_of(mine)) model[key] = std::to_string(mine);
      } else {
        unsure = mine;
      }
    }
    if (traffic.calls < calls) ++finished;
    const Model there = contents(*table);
    if (unsure && there.contains(keys_of(*unsure)[0])) {
      for (const std::string& key : keys_of(*unsure)) model[key] = std::to_string(*unsure);
    }
    ASSERT_EQ(there, model) << "killed after " << calls << " calls";
  }
  // Surviving workers continue, and leftovers of the dead one are removed.
  for (int i = 0; i < 3; ++i) {
    clock_.advance(2h);
    const int mine = ++number;
    ASSERT_TRUE(write(*table, keys_of(mine), std::to_string(mine)).ok());
    for (const std::string& key : keys_of(mine)) model[key] = std::to_string(mine);
  }
  EXPECT_EQ(contents(*table), model);
  const auto names = objects();
  const auto segments = std::ranges::count_if(
      names, [](const std::string& name) { return name.starts_with(kSegments); });
  const TableManifest& manifest = table->current()->manifest;
  EXPECT_LE(static_cast<std::size_t>(segments),
            manifest.segments.size() + manifest.retired.size() + 1);
  EXPECT_LE(names.size() - static_cast<std::size_t>(segments), 20U) << "manifests";
}

TEST_F(SegmentTableTest, OldObjectsStayForTheGraceAndGoAfterIt) {
  const auto table = open();
  ASSERT_TRUE(*bucket()->create(segment_name(clock_.now(), 1), "left behind"));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(write(*table, {std::to_string(i)}, "v").ok());
  EXPECT_EQ(table->current()->segments.size(), 1U);
  clock_.advance(59min);
  ASSERT_TRUE(write(*table, {"8"}, "v").ok());
  const auto count = [&] {
    const auto names = objects();
    return std::ranges::count_if(
        names, [](const std::string& name) { return name.starts_with(kSegments); });
  };
  EXPECT_EQ(count(), 8 + 1 + 1 + 1) << "merged ones, the one left behind, and two that are used";
  clock_.advance(2min);
  ASSERT_TRUE(write(*table, {"9"}, "v").ok());
  EXPECT_EQ(count(), 3);
  EXPECT_EQ(contents(*table).size(), 10U);
}

TEST_F(SegmentTableTest, AChangeWhoseSegmentWasRemovedWhileItsWorkerSleptIsMadeAllTheSame) {
  const auto table = open();
  Traffic slow_traffic;
  const auto slow = *open(slow_traffic);
  // The clean-up comes between the upload of the segment and the manifest.
  slow_traffic.before_create = [&](const std::string& name) {
    ASSERT_THAT(name, testing::StartsWith(std::string(kSegments)));
    slow_traffic.before_create = [&](const std::string& manifest) {
      ASSERT_THAT(manifest, testing::StartsWith(std::string(kManifests)));
      clock_.advance(2h);
      ASSERT_TRUE(write(*table, {"other"}, "1").ok());
    };
  };
  ASSERT_TRUE(write(*slow, {"slow"}, "2").ok());
  EXPECT_EQ(contents(*table), (Model{{"other", "1"}, {"slow", "2"}}));
  Traffic fresh;
  std::filesystem::remove_all(area_.cache());
  EXPECT_EQ(contents(**open(fresh)), (Model{{"other", "1"}, {"slow", "2"}}));
}

TEST_F(SegmentTableTest, AChangeBehindARemovedManifestDoesNotCount) {
  const auto table = open();
  Traffic slow_traffic;
  const auto slow = *open(slow_traffic);
  slow_traffic.before_create = [&](const std::string&) {
    slow_traffic.before_create = [&](const std::string& manifest) {
      // It sleeps until the manifest that it is about to create has existed and was removed.
      for (int i = 0; i < 4; ++i) {
        clock_.advance(2h);
        ASSERT_TRUE(write(*table, {std::to_string(i)}, "v").ok());
      }
      ASSERT_EQ(*bucket()->get(manifest), std::nullopt);
    };
  };
  ASSERT_TRUE(write(*slow, {"slow"}, "v").ok());
  EXPECT_EQ(contents(*table).size(), 5U);
  EXPECT_EQ(value_of(*table, "slow"), "v");
  EXPECT_EQ(table->current()->manifest.records, 5U);
}

TEST_F(SegmentTableTest, LargeSegmentsAreUploadedInPartsAndReadInPieces) {
  const auto table = open();
  TableChange change(*table);
  std::vector<SegmentEntry> entries;
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string value(1'000, '\0');
    for (char& c : value) c = static_cast<char>(random.next());
    entries.push_back({"key" + std::to_string(100'000 + i), value});
  }
  change.set(entries);
  ASSERT_TRUE(*change.commit(*table->current(), 1));
  std::filesystem::remove_all(area_.cache());
  Traffic traffic;
  const auto reader = *open(traffic, 0);
  for (const SegmentInfo& segment : reader->current()->manifest.segments)
    traffic.sizes[segment.name] = segment.bytes;
  for (int i = 0; i < 20'000; i += 1'999)
    EXPECT_EQ(value_of(*reader, entries[static_cast<std::size_t>(i)].key),
              entries[static_cast<std::size_t>(i)].value);
  EXPECT_EQ(traffic.smallest_range, 1U << 20);
  EXPECT_TRUE(!std::filesystem::exists(area_.cache()) || std::filesystem::is_empty(area_.cache()));
  EXPECT_EQ(contents(*reader).size(), 20'000U);
}

TEST_F(SegmentTableTest, ACacheWithWrongBytesIsNotBelieved) {
  auto table = open();
  Model model;
  for (int i = 0; i < 5; ++i) {
    model[std::to_string(i)] = std::to_string(i);
    ASSERT_TRUE(write(*table, {std::to_string(i)}, std::to_string(i)).ok());
  }
  std::string other;
  for (const auto& file : std::filesystem::directory_iterator(area_.cache())) {
    // Another segment under its name, or a flipped bit.
    std::string bytes = *read_whole(system_disk(), file.path());
    const std::string own = bytes;
    if (bytes.size() == other.size())
      bytes = other;
    else
      bytes[10] = static_cast<char>(bytes[10] ^ 4);
    other = own;
    ASSERT_TRUE(replace_whole(system_disk(), file.path(), bytes).ok());
  }
  table = open();
  EXPECT_EQ(contents(*table), model);
  for (const auto& [key, value] : model) EXPECT_EQ(value_of(*table, key), value);
}

TEST_F(SegmentTableTest, WrongBytesInTheBucketAreDataLoss) {
  auto table = open();
  ASSERT_TRUE(write(*table, {"key"}, "value").ok());
  const std::string name = table->current()->manifest.segments[0].name;
  std::string bytes = **bucket()->get(name);
  bytes[12] = static_cast<char>(bytes[12] ^ 1);
  ASSERT_TRUE(bucket()->remove(std::span(&name, 1)).ok());
  ASSERT_TRUE(*bucket()->create(name, bytes));
  std::filesystem::remove_all(area_.cache());
  table = open();
  const std::string key = "key";
  const auto read = SegmentTable::get(*table->current(), std::span(&key, 1));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::kDataLoss);
  EXPECT_THAT(read.error().message, testing::HasSubstr(name));
}

}  // namespace
}  // namespace kin::store
