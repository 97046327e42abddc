#include "app/seen/id_source.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "base/file.h"

namespace kin::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class IdSourceTest : public testing::Test {
 protected:
  std::string write(const char* name, std::string_view bytes) const {
    const fs::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  Status read(const IdSourceOptions& options) {
    auto source = IdSource::open(options);
    if (!source) return source.error();
    const Status read = (*source)->read(stop_, [&](const IdBatch& batch) {
      for (std::size_t i = 0; i < batch.ids.size(); ++i) {
        ids_.emplace_back(batch.ids[i]);
        places_.push_back(fs::path(batch.where(i)).filename());
      }
      return Status(Done{});
    });
    skipped_ = (*source)->skipped();
    return read;
  }

  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  std::atomic<bool> stop_{false};
  std::vector<std::string> ids_;
  std::vector<std::string> places_;
  std::uint64_t skipped_ = 0;
};

TEST_F(IdSourceTest, TakesLinesAsTheyAreButForTheirEnds) {
  const std::string path = write("ids.txt", "a\r\n\n b \r\nc\rd\n\r\n\xff\ne");
  ASSERT_TRUE(read({.files = {path}}).ok());
  EXPECT_THAT(ids_, ElementsAre("a", " b ", "c\rd", "\xff", "e"));
  EXPECT_THAT(places_,
              ElementsAre("ids.txt:1", "ids.txt:3", "ids.txt:4", "ids.txt:6", "ids.txt:7"));
}

TEST_F(IdSourceTest, CountsLinesOfEachFileFromOneAndKeepsThemApart) {
  const std::string a = write("a.txt", "1\n2");
  const std::string b = write("b.txt", "3\n");
  ASSERT_TRUE(read({.files = {a, b}}).ok());
  EXPECT_THAT(ids_, ElementsAre("1", "2", "3"));
  EXPECT_THAT(places_, ElementsAre("a.txt:1", "a.txt:2", "b.txt:1"));
}

TEST_F(IdSourceTest, FindsTheLinesWhereverTheReadingCutsThem) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 40'000; ++i) {
    expected.push_back(std::string(static_cast<std::size_t>(i % 97 + 1), 'x') + std::to_string(i));
    text += expected.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }
  expected.push_back(std::string(900'000, 'y'));
  text += expected.back();
  ASSERT_TRUE(read({.files = {write("ids.txt", text)}}).ok());
  EXPECT_EQ(ids_, expected);
  EXPECT_EQ(places_.back(), "ids.txt:40001");
}

TEST_F(IdSourceTest, RefusesALineThatIsNoIdAndHandsOverWhatStandsBefore) {
  for (const char* end : {"\nb\n", ""}) {
    ids_.clear();
    const Status status =
        read({.files = {write("ids.txt", "a\n" + std::string(1'100'000, 'x') + end)}});
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("ids.txt:2: the line is longer than 1 MiB"));
    EXPECT_THAT(ids_, ElementsAre("a"));
  }
}

TEST_F(IdSourceTest, HandsOverWhatAPipeHoldsWithoutWaitingForMore) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  File writer = *File::open_to_update(pipe);  // so that the reader's end opens at once
  ASSERT_TRUE(writer.write("a\nb\nhalf").ok());
  auto source = *IdSource::open({.files = {pipe.string()}});
  std::vector<std::pair<std::string, bool>> seen;
  const Status status = source->read(stop_, [&](const IdBatch& batch) -> Status {
    for (const std::string_view id : batch.ids) seen.emplace_back(id, batch.more_is_ready);
    if (seen.size() == 2) return writer.write(" and half\nc\n");
    stop_ = true;
    return Done{};
  });
  EXPECT_EQ(status.error().code, Code::kCancelled);
  EXPECT_THAT(seen, ElementsAre(std::pair("a", false), std::pair("b", false),
                                std::pair("half and half", false), std::pair("c", false)));
}

TEST_F(IdSourceTest, StopsWaitingForAPipeWhenTold) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const File writer = *File::open_to_update(pipe);
  stop_ = true;
  EXPECT_EQ(read({.files = {pipe.string()}}).error().code, Code::kCancelled);
}

TEST_F(IdSourceTest, EndsWithTheErrorOfWhoeverTakesTheIds) {
  auto source = *IdSource::open({.files = {write("ids.txt", "a\n")}});
  const Status status = source->read(
      stop_, [](const IdBatch&) -> Status { return Error{Code::kUnavailable, "no room"}; });
  EXPECT_EQ(status.error().message, "no room");
}

TEST_F(IdSourceTest, ReadsAColumnAndSaysWhereItIsEmpty) {
  const std::string path = write("a.jsonl", R"({"id": 1}
{"id": "two"}
{"id": null}
{"id": 4}
)");
  const Status status = read({.files = {path}, .column = "id"});
  EXPECT_THAT(status.error().message,
              HasSubstr("a.jsonl:3: the column \"id\" is missing or empty"));
  EXPECT_THAT(ids_, ElementsAre("1", "two"));
  ids_.clear();
  ASSERT_TRUE(read({.files = {path}, .column = "id", .on_error = data::OnError::kSkip}).ok());
  EXPECT_THAT(ids_, ElementsAre("1", "two", "4"));
  EXPECT_EQ(skipped_, 1U);
}

TEST_F(IdSourceTest, AsksForAColumnWhereTheNameIsThatOfADataset) {
  const Status status = read({.files = {write("a.csv", "id\n1\n")}});
  EXPECT_THAT(status.error().message, HasSubstr("--column"));
}

}  // namespace
}  // namespace kin::app
