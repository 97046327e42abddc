#include "kv/testing/modelled_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"

namespace kin::kv {
namespace {

const std::filesystem::path kFolder = "/store";
constexpr Family kOther{1};
constexpr Family kUnlogged{2};

// Ingestion does not wait for earlier batches, so the change before it is synced.
bool is_ingested(std::uint64_t number) {
  return number % 17 == 8;
}
bool is_synced(std::uint64_t number) {
  return number % 3 == 0 || is_ingested(number) || is_ingested(number + 1);
}
bool is_flushed(std::uint64_t number) {
  return number % 7 == 6;
}
bool is_compacted(std::uint64_t number) {
  return number % 31 == 30;
}
bool is_copied(std::uint64_t number) {
  return number % 29 == 20;
}
bool has_unlogged(std::uint64_t number) {
  return number % 4 == 1;
}

std::uint64_t copy_bit(std::uint64_t number) {
  return std::uint64_t{1} << number / 29 % 64;
}

std::filesystem::path copy_of(std::uint64_t number, std::uint64_t attempt) {
  return "/copy " + std::to_string(number) + " " + std::to_string(attempt);
}

std::string key_of(std::uint64_t number) {
  return "k" + std::to_string(number);
}

std::string value_of(std::uint64_t number) {
  return std::to_string(number) + std::string(number * 37 % 700, 'x');
}

// Calls put(key, value, other), remove(key) and remove_range(from, to) for the changes of a batch.
template <typename Put, typename Remove, typename RemoveRange>
void each_change(std::uint64_t number, const Put& put, const Remove& remove,
                 const RemoveRange& remove_range) {
  if (is_ingested(number)) {
    put("i" + key_of(number % 5), value_of(number), false);
    put("j" + key_of(number % 3), value_of(number + 1), false);
    return;
  }
  if (number % 11 == 0) remove_range("k2", "k5");
  put(key_of(number % 13), value_of(number), false);
  put(key_of(number % 7), value_of(number), true);
  if (number % 5 == 0) remove(key_of((number + 3) % 13));
  put("last", std::to_string(number), false);
}

void expect_ok(const Status& status) {
  EXPECT_TRUE(status.ok()) << status.error().message;
}

std::map<std::string, std::string> rows_of(const KeyValueStore& store, Family family) {
  std::map<std::string, std::string> rows;
  expect_ok(store.for_each(
      "",
      [&](std::string_view key, std::string_view value) -> Status {
        rows.emplace(key, value);
        return Done{};
      },
      family));
  return rows;
}

}  // namespace

KeyValuesUnderTest::KeyValuesUnderTest(const KeyValuesUnderTest& other)
    : engine_(other.engine_),
      acknowledged_(other.acknowledged_.load()),
      copies_(other.copies_.load()),
      attempted_(other.attempted_.load()) {
  const std::lock_guard lock(other.flushing_);
  flushed_ = other.flushed_;
}

StoreOptions KeyValuesUnderTest::options() const {
  return {.families = {"other", "unlogged"},
          .tuning = {{"other", {.apart_from_bytes = 300}}},
          .block_cache_bytes = 1 << 16,
          .write_buffer_bytes = 1 << 16,
          .log_bytes = 1'500,
          .engine = engine_,
          .disk = disk_,
          .clock = &clock_};
}

KeyValuesUnderTest::Model KeyValuesUnderTest::state_after(std::uint64_t changes) {
  Model model;
  for (std::uint64_t number = 1; number <= changes; ++number) {
    each_change(
        number,
        [&](const std::string& key, const std::string& value, bool other) {
          (other ? model.other : model.main)[key] = value;
        },
        [&](const std::string& key) { model.main.erase(key); },
        [&](const std::string& from, const std::string& to) {
          model.main.erase(model.main.lower_bound(from), model.main.lower_bound(to));
        });
  }
  return model;
}

Status KeyValuesUnderTest::open(SimulatedDisk& disk) {
  disk_ = &disk;
  KIN_TRY(store_, KeyValueStore::open(kFolder, options()));
  refuses_ = false;
  expect_kept();
  return Done{};
}

Status KeyValuesUnderTest::write_without_log(std::uint64_t number) {
  Batch batch(*store_);
  batch.put(key_of(number % 5), std::to_string(number), kUnlogged);
  return store_->write(batch, {.sync = false, .log = false});
}

Status KeyValuesUnderTest::change(std::uint64_t number) {
  std::vector<std::pair<std::string, std::string>> rows;
  Batch batch(*store_);
  each_change(
      number,
      [&](const std::string& key, const std::string& value, bool other) {
        rows.emplace_back(key, value);
        batch.put(key, value, other ? kOther : kMain);
      },
      [&](const std::string& key) { batch.remove(key); },
      [&](const std::string& from, const std::string& to) { batch.remove_range(from, to); });
  if (!is_ingested(number)) return store_->write(batch, {.sync = is_synced(number)});
  std::size_t next = 0;
  return store_->ingest([&]() -> Result<std::optional<Row>> {
    if (next == rows.size()) return std::optional<Row>();
    const auto& [key, value] = rows[next++];
    return std::optional(Row{key, value});
  });
}

Status KeyValuesUnderTest::write_on(std::uint64_t count) {
  const std::uint64_t end = position_ + count;
  while (position_ < end || !is_synced(position_)) {
    const std::uint64_t number = position_ + 1;
    attempted_ = std::max(attempted_.load(), number);
    Status done = has_unlogged(number) ? write_without_log(number) : Status(Done{});
    if (done.ok()) done = change(number);
    // An ingestion that fails before it reaches the store does it no harm.
    refuses_ = !done.ok() && !is_ingested(number);
    KIN_RETURN_IF_ERROR(done);
    position_ = number;
    if (is_synced(number)) acknowledged_ = std::max(acknowledged_.load(), number);
    if (is_flushed(number)) {
      KIN_RETURN_IF_ERROR(store_->flush());
      note_flush();
    }
    if (is_compacted(number)) KIN_RETURN_IF_ERROR(store_->compact());
    if (is_copied(number)) KIN_RETURN_IF_ERROR(copy(number));
  }
  return Done{};
}

Status KeyValuesUnderTest::close() {
  const Status flushed = store_->flush();
  if (flushed.ok()) note_flush();
  const Status closed = store_->close();
  store_.reset();
  return flushed.ok() ? closed : flushed;
}

void KeyValuesUnderTest::expect_kept() {
  const Model there{rows_of(*store_, kMain), rows_of(*store_, kOther)};
  // A thread may have been applying the next changes when the model was copied.
  const std::uint64_t slack = engine_ == StoreOptions::Engine::kLog ? 0 : 4;
  for (std::uint64_t number = acknowledged_; number <= attempted_ + slack; ++number) {
    if (there != state_after(number)) continue;
    position_ = number;
    attempted_ = std::max(attempted_.load(), number);
    expect_unlogged();
    return expect_copies();
  }
  const auto last = there.main.find("last");
  ADD_FAILURE() << "changes " << acknowledged_ << " to " << attempted_
                << " were acknowledged or attempted, and the store holds neither; its last is "
                << (last == there.main.end() ? "missing" : last->second);
}

std::optional<Hash128> KeyValuesUnderTest::expected() const {
  std::string all;
  for (const std::uint64_t number : {acknowledged_.load(), attempted_.load(), copies_.load()})
    append_le(all, number);
  const std::lock_guard lock(flushing_);
  for (const auto& [key, number] : flushed_) all += key + ' ' + number + ' ';
  return hash128(all);
}

void KeyValuesUnderTest::note_flush() {
  acknowledged_ = std::max(acknowledged_.load(), position_);
  const std::lock_guard lock(flushing_);
  flushed_ = rows_of(*store_, kUnlogged);
}

// Values only grow.
void KeyValuesUnderTest::expect_unlogged() {
  const auto there = rows_of(*store_, kUnlogged);
  const std::lock_guard lock(flushing_);
  for (const auto& [key, number] : flushed_) {
    const auto found = there.find(key);
    ASSERT_NE(found, there.end()) << key << " was flushed and is lost";
    ASSERT_GE(std::stoull(found->second), std::stoull(number)) << key;
  }
}

Status KeyValuesUnderTest::copy(std::uint64_t number) {
  // A crash may have left a part of an earlier copy.
  std::uint64_t attempt = 0;
  while (*disk_->exists(copy_of(number, attempt))) ++attempt;
  KIN_RETURN_IF_ERROR(store_->checkpoint(copy_of(number, attempt)));
  copies_ |= copy_bit(number);
  return Done{};
}

// True if there is a store in `folder`, which must hold the first `number` changes then. A folder
// without a store is what a crash may leave.
bool KeyValuesUnderTest::is_copy(const std::filesystem::path& folder, std::uint64_t number) {
  StoreOptions how = options();
  how.mode = StoreOptions::Mode::kOpen;
  const auto copy = KeyValueStore::open(folder, how);
  if (!copy.ok()) {
    EXPECT_EQ(copy.error().code, Code::kNotFound) << copy.error().message;
    return false;
  }
  const Model there{rows_of(**copy, kMain), rows_of(**copy, kOther)};
  EXPECT_EQ(there, state_after(number)) << folder;
  return true;
}

void KeyValuesUnderTest::expect_copies() {
  for (std::uint64_t number = 1; number <= attempted_; ++number) {
    if (!is_copied(number)) continue;
    bool whole = false;
    for (std::uint64_t attempt = 0; *disk_->exists(copy_of(number, attempt)); ++attempt)
      whole |= is_copy(copy_of(number, attempt), number);
    EXPECT_TRUE(whole || (copies_ & copy_bit(number)) == 0)
        << "checkpoint " << number << " is lost";
  }
}

void KeyValuesUnderTest::expect_after(const Error&) {
  if (!refuses_) return;
  const Status again = change(position_ + 1);
  EXPECT_FALSE(again.ok()) << "a write succeeds after a write that failed";
  const Model there{rows_of(*store_, kMain), rows_of(*store_, kOther)};
  EXPECT_EQ(there, state_after(position_));
}

}  // namespace kin::kv
