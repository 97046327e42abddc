#include "data/convert/mixed_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "data/testing/dataset_fixture.h"
#include "data/testing/parquet_fixture.h"

namespace kin::data {
namespace {

using testing::Contains;
using testing::HasSubstr;

class MixedFiles : public testing::Test {
 protected:
  std::vector<std::string> inputs() const {
    const std::string lines = folder_.write("b.jsonl", "{\"text\":\"c\",\"n\":1}\n{\"text\"\n");
    auto json = open_dataset({folder_.write("p.jsonl", "{\"text\":\"d\",\"n\":7}\n")}).value();
    EXPECT_TRUE(json->write(RecordSet(1, true), folder_.path("p.parquet"), 1).ok());
    return {folder_.write("a.csv", "id,text\n1,a\n2,b\n"), lines,
            folder_.path("p.parquet").string(), folder_.write("c.csv", "text,id\n\"e,e\",3\n")};
  }
  TestFolder folder_;
};

TEST_F(MixedFiles, AreOneDatasetWhoseRowsFollowOneAnother) {
  auto dataset = open_dataset(inputs()).value();
  const auto seen = scan_all(*dataset, {.columns = {"text", "id"},
                                        .optional_columns = 1,
                                        .threads = 2,
                                        .on_error = OnError::kSkip})
                        .value();
  ASSERT_EQ(seen.values.size(), 5);
  EXPECT_EQ(seen.values.at(0)[0], "a");
  EXPECT_EQ(seen.values.at(1)[1], "2");
  EXPECT_EQ(seen.values.at(2)[0], "c");
  EXPECT_EQ(seen.values.at(2)[1], std::nullopt);
  EXPECT_EQ(seen.values.at(4)[0], "d");
  EXPECT_EQ(seen.values.at(5)[0], "e,e");
  EXPECT_EQ(seen.values.at(5)[1], "3");
  EXPECT_EQ(seen.file.at(5), 3);
  EXPECT_EQ(dataset->rows(), 6);
  EXPECT_EQ(dataset->first_rows(), (std::vector<std::uint64_t>{0, 2, 4, 5}));
  EXPECT_EQ(dataset->skipped().rows, std::vector{RecordId{3}});
  EXPECT_THAT(dataset->columns().value(), Contains("n"));

  const auto some = keep_rows(6, {1, 5});
  const auto again = scan_all(*dataset, {.columns = {"text"}, .only = &some}).value();
  EXPECT_EQ(again.values.size(), 2);
  EXPECT_EQ(again.values.at(5)[0], "e,e");
}

TEST_F(MixedFiles, ContinueInAnotherProcess) {
  const auto names = inputs();
  auto first = open_dataset(names).value();
  int asked = 0;
  const auto begun = scan_all(*first, {.columns = {"text"},
                                       .on_error = OnError::kSkip,
                                       .pause = [&] { return ++asked > 4; }})
                         .value();
  ASSERT_FALSE(begun.end.finished);
  auto second = open_dataset(names).value();
  second->restore(first->memory());
  const auto rest =
      scan_all(*second,
               {.columns = {"text"}, .on_error = OnError::kSkip, .start = begun.end.position})
          .value();
  EXPECT_TRUE(rest.end.finished);
  EXPECT_EQ(begun.values.size() + rest.values.size(), 5);
  EXPECT_EQ(second->rows(), 6);
  EXPECT_EQ(second->skipped().rows, std::vector{RecordId{3}});
  EXPECT_EQ(second->first_rows(), (std::vector<std::uint64_t>{0, 2, 4, 5}));
}

TEST_F(MixedFiles, GoToOneOutputOfAnyFormat) {
  auto dataset = open_dataset(inputs()).value();
  ASSERT_TRUE(scan_all(*dataset, {.columns = {"text"}, .on_error = OnError::kSkip}).ok());
  const RecordSet keep = keep_rows(6, {0, 2, 4, 5});
  ASSERT_TRUE(dataset->write(keep, folder_.path("out.jsonl"), 2).ok());
  EXPECT_EQ(folder_.read("out.jsonl"),
            "{\"id\":\"1\",\"text\":\"a\"}\n{\"text\":\"c\",\"n\":1}\n{\"text\":\"d\",\"n\":7}\n"
            "{\"text\":\"e,e\",\"id\":\"3\"}\n");
  ASSERT_TRUE(dataset->write(keep, folder_.path("out.csv"), 2).ok());
  EXPECT_EQ(folder_.read("out.csv"), "id,text,n\n1,a,\n,c,1\n,d,7\n3,\"e,e\",\n");
  const auto report = dataset->write(keep, folder_.path("out.parquet"), 2).value();
  EXPECT_EQ(report.records, 4);
  EXPECT_THAT(report.notes, Contains(HasSubstr("different formats")));
  auto parquet = open_dataset({folder_.path("out.parquet").string()}).value();
  EXPECT_EQ(scan_all(*parquet, {.columns = {"n"}}).value().values.at(2)[0], "7");
  auto skipped = dataset->write_skipped(folder_.path("skipped")).value();
  ASSERT_TRUE(skipped.commit().ok());
  EXPECT_EQ(folder_.read("skipped"), "{\"text\"\n");
}

TEST_F(MixedFiles, WithoutRecordsLeaveNoTraceInTheOutput) {
  auto dataset = open_dataset(inputs()).value();
  ASSERT_TRUE(scan_all(*dataset, {.columns = {"text"}, .on_error = OnError::kSkip}).ok());
  const RecordSet keep = keep_rows(6, {0, 2});
  // Work beside the writing does not change the output.
  const auto written = [&](const WriteOptions& how) {
    auto staged = dataset->write_staged(keep, folder_.path("out.jsonl.zst"), how).value();
    EXPECT_TRUE(staged.first.commit().ok());
    return folder_.read("out.jsonl.zst");
  };
  std::atomic<int> worked = 0;
  const auto beside = [&]() -> Status {
    ++worked;
    return Done{};
  };
  EXPECT_EQ(written({.threads = 2, .beside = beside}), written({.threads = 2}));
  EXPECT_EQ(worked, 2);
  ASSERT_TRUE(dataset->write(keep_rows(6, {}), folder_.path("none.jsonl.zst"), 1).ok());
  EXPECT_FALSE(folder_.read("none.jsonl.zst").empty());
}

}  // namespace
}  // namespace kin::data
