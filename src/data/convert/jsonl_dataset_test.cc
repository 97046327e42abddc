#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string many_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    lines += fmt::format("{{\"id\": {}, \"text\": \"line {} {}\"}}\n", i, i,
                         std::string(static_cast<std::size_t>(i % 700), 'x'));
  }
  return lines;
}

std::string first_error(const TestFolder& folder, const std::string& bytes,
                        const std::string& column = "text") {
  const std::string path = folder.write("bad.jsonl", bytes);
  auto dataset = open_dataset({path});
  if (!dataset) return dataset.error().message;
  const auto seen = scan_all(**dataset, {.columns = {column}, .threads = 2});
  return seen ? "no error" : seen.error().message.substr(seen.error().message.find("bad.jsonl"));
}

TEST(JsonlDataset, HandsOutTextNumbersNullsAndNestedValues) {
  TestFolder folder;
  auto dataset =
      open_dataset(
          {folder.write(
              "a.jsonl",
              "{\"text\":\"caf\\u00e9 \\\"q\\\"\\n\",\"n\":1.50,\"m\":{\"a\": [1, 2]},\"z\":null}\n"
              "{ \"z\" : true , \"m\" : {} , \"n\" : -3e5 , \"text\" : \"\" }\n")})
          .value();
  const auto seen = scan_all(*dataset, {.columns = {"text", "n", "m", "z"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0),
              ElementsAre("café \"q\"\n", "1.50", "{\"a\": [1, 2]}", std::nullopt));
  EXPECT_THAT(seen.values.at(1), ElementsAre("", "-3e5", "{}", "true"));
  EXPECT_THAT(seen.where.at(1), testing::EndsWith("a.jsonl:2"));
  EXPECT_TRUE(seen.end.finished);
  EXPECT_EQ(dataset->rows(), 2);
}

TEST(JsonlDataset, ReachesIntoObjectsByDottedPathsUnlessAKeyHasTheDotItself) {
  TestFolder folder;
  auto dataset =
      open_dataset(
          {folder.write(
              "a.jsonl",
              "{\"meta\":{\"title\":\"nested\",\"deep\":{\"er\":7}}}\n"
              "{\"meta\":{\"title\":\"nested\",\"deep\":{\"er\":8}},\"meta.title\":\"plain\"}\n"
              "{\"meta.title\":\"plain\",\"meta\":{\"title\":\"nested\",\"deep.er\":9}}\n")})
          .value();
  const auto seen =
      scan_all(*dataset, {.columns = {"meta.title", "meta.deep.er"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("nested", "7"));
  EXPECT_THAT(seen.values.at(1), ElementsAre("plain", "8"));
  EXPECT_THAT(seen.values.at(2), ElementsAre("plain", "9"));
}

TEST(JsonlDataset, AcceptsWhatJsonAllows) {
  TestFolder folder;
  auto dataset =
      open_dataset(
          {folder.write("a.jsonl",
                        "\xef\xbb\xbf{\"text\":\"long\",\"id\":123456789012345678901234567890}\r\n"
                        "\n  \t\r\n"
                        "{\"text\":\"\\ud83d\\ude00\",\"x\":1e999,\"\\u0074ext2\":[[],{}]}\r\n"
                        "{\"text\":\"last\"}")})
          .value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = 1}).value();
  EXPECT_THAT(seen.values.at(0), ElementsAre("long"));
  EXPECT_THAT(seen.values.at(1), ElementsAre("😀"));
  EXPECT_THAT(seen.values.at(2), ElementsAre("last"));
  EXPECT_THAT(seen.where.at(1), testing::EndsWith(":4"));
  EXPECT_EQ(seen.values.size(), 3);
}

TEST(JsonlDataset, NamesFileLineAndFieldsWhenAFieldIsMissing) {
  TestFolder folder;
  EXPECT_EQ(first_error(folder, "{\"text\":\"a\"}\n\n{\"id\":1,\"body\":\"b\"}\n"),
            "bad.jsonl:3: field \"text\" is missing (use --field, or --on-error skip); this record "
            "has: id, body");
}

TEST(JsonlDataset, NamesFileLineAndReasonOfMalformedLines) {
  TestFolder folder;
  const std::string good = "{\"text\":\"a\"}\n";
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\n"),
              HasSubstr("bad.jsonl:2: malformed JSON: a string is not closed"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\"\n"),
              HasSubstr("bad.jsonl:2: malformed JSON: it is cut off"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"\xff\"}\n"),
              HasSubstr("bad.jsonl:2: malformed JSON: it is not valid UTF-8"));
  EXPECT_THAT(first_error(folder, good + "[1]\n"),
              HasSubstr("bad.jsonl:2: malformed JSON: it is not an object"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\"}{}\n"), HasSubstr("something follows"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\" \"b\":1}\n"),
              HasSubstr("a comma or } is missing"));
  EXPECT_THAT(first_error(folder, good + "{\"text\" 1}\n"), HasSubstr("a colon is missing"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\",}\n"),
              HasSubstr("a key in an object is not a string"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":01}\n"), HasSubstr("01 is not a JSON value"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":nul}\n"), HasSubstr("nul is not a JSON value"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"\\q\"}\n"),
              HasSubstr("an escape in a string is wrong"));
  for (const char* half : {"\\ud800", "\\udc00 x", "\\ud800\\ud800", "\\ud800\\u0041"}) {
    EXPECT_THAT(first_error(folder, fmt::format("{}{{\"text\":\"{}\"}}\n", good, half)),
                HasSubstr("bad.jsonl:2: malformed JSON: a lone surrogate is not text"));
    EXPECT_EQ(first_error(folder, fmt::format("{{\"text\":\"a\",\"x\":[\"{}\"]}}\n", half)),
              "no error");
  }
  EXPECT_THAT(first_error(folder, good + "{\"text\":\"a\tb\"}\n"),
              HasSubstr("a control character in a string is not escaped"));
  EXPECT_THAT(first_error(folder, good + "{\"text\":" + std::string(2000, '[') + "\n"),
              HasSubstr("nested more than"));
  EXPECT_THAT(first_error(folder, "\n \n"), HasSubstr("there are no records"));
  EXPECT_THAT(first_error(folder, ""), HasSubstr("there are no records"));
}

TEST(JsonlDataset, WhatNobodyAsksForNeedNotBeValid) {
  TestFolder folder;
  const std::string lines =
      "{\"x\":NaN,\"text\":\"a\"}\n{\"text\":\"b\",\"x\":[-Infinity,{\"y\":Infinity}]}\n"
      "{\"x\":\"\\ud800\",\"text\":\"c\",\"\\ud800\":01}\n";
  auto dataset = open_dataset({folder.write("a.jsonl", lines)}).value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}}).value();
  EXPECT_EQ(seen.values.at(0)[0], "a");
  EXPECT_EQ(seen.values.at(1)[0], "b");
  EXPECT_EQ(seen.values.at(2)[0], "c");
  ASSERT_TRUE(dataset->write(RecordSet(3, true), folder.path("b.jsonl"), 1).ok());
  EXPECT_EQ(folder.read("b.jsonl"), lines);
}

TEST(JsonlDataset, ReadsTextsThroughLists) {
  TestFolder folder;
  auto dataset =
      open_dataset({folder.write(
                       "a.jsonl",
                       "{\"m\":[{\"c\":\"one\"},{\"c\":\"t\\u0077o\"},{\"c\":null},{},{\"c\":3}]}\n"
                       "{\"m\":[]}\n"
                       "{\"m\":{\"c\":\"no list\"}}\n"
                       "{\"a\":{\"b\":[[\"x\",\"y\"],[\"z\"]]},\"m[].c\":\"own name\"}\n"
                       "{\"m\":[{\"c\":\"\"},{\"c\":\"last\"},{\"c\":\"\"}]}\n")})
          .value();
  const auto seen =
      scan_all(*dataset, {.columns = {"m[].c", "a.b[][]"}, .optional_columns = 2}).value();
  EXPECT_EQ(seen.values.at(0)[0], "one\ntwo\n3");
  EXPECT_EQ(seen.values.at(1)[0], std::nullopt);
  EXPECT_EQ(seen.values.at(2)[0], std::nullopt);
  EXPECT_EQ(seen.values.at(3)[0], "own name");
  EXPECT_EQ(seen.values.at(3)[1], "x\ny\nz");
  EXPECT_EQ(seen.values.at(4)[0], "\nlast\n");  // as Parquet has it
  EXPECT_EQ(seen.end.found, (std::vector<bool>{true, true}));
}

TEST(JsonlDataset, ReadsLinesLongerThanAnIndexAlike) {
  TestFolder folder;
  const std::string words(3 << 20, 'w');
  std::string lines;
  for (int i = 0; i < 6; ++i) {
    lines += fmt::format("{{\"id\": {}, \"x\": [{{\"y\": \"\\\\\"}}], \"text\": \"{}{}\"}}\n", i,
                         i % 2 == 0 ? words + words : words, i);
  }
  auto dataset = open_dataset({folder.write("a.jsonl", lines)}).value();
  dataset->limit_memory(8 << 20);  // fewer bytes than two threads would hold
  const auto seen = scan_all(*dataset, {.columns = {"text", "id"}, .threads = 3}).value();
  ASSERT_EQ(seen.values.size(), 6);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(seen.values.at(i)[1], std::to_string(i));
    EXPECT_EQ(seen.values.at(i)[0]->back(), static_cast<char>('0' + i));
  }
  EXPECT_GT(dataset->longest_record(), 6 << 20);
  ASSERT_TRUE(dataset->write(RecordSet(6, true), folder.path("b.jsonl"), 3).ok());
  EXPECT_EQ(folder.read("b.jsonl"), lines);
}

TEST(JsonlDataset, RefusesARecordThatIsTooLongAndSaysHowLongItIs) {
  TestFolder folder;
  const std::string long_line = "{\"text\":\"" + std::string(5 << 20, 'x') + "\"}";
  const std::string path =
      folder.write("a.jsonl", "{\"text\":\"a\"}\n" + long_line + "\n{\"text\":\"b\"}\n");
  auto inputs = find_inputs(std::vector{path}, folder.path("")).value();
  auto dataset = Dataset::open(std::move(inputs), {.temporary_folder = {}, .longest_record = 2 << 20}).value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}});
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, Code::kResourceExhausted);
  EXPECT_THAT(seen.error().message, HasSubstr("a.jsonl:2: the record has"));
  EXPECT_GE(dataset->longest_record(), long_line.size());
  EXPECT_LE(dataset->longest_record(), long_line.size() + 1);
}

TEST(JsonlDataset, ReportsTheFirstErrorOfTheInputWhateverTheThreads) {
  TestFolder folder;
  std::string lines = many_lines(20'000);
  lines += "{\"oops\n" + many_lines(20'000) + "{\"worse\n";
  const std::string path = folder.write("a.jsonl", lines);
  for (const int threads : {1, 4}) {
    auto dataset = open_dataset({path}).value();
    const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = threads});
    ASSERT_FALSE(seen.ok());
    EXPECT_THAT(seen.error().message, HasSubstr("a.jsonl:20001:"));
  }
}

TEST(JsonlDataset, ReportsABadRecordBeforeTheDamageBehindItWhateverTheThreads) {
  TestFolder folder;
  const std::string path =
      folder.write("a.jsonl", many_lines(20'000) + "{\"oops\n" + many_lines(4000));
  auto plain = open_dataset({path}).value();
  ASSERT_TRUE(plain->write(RecordSet(24'001, true), folder.path("b.jsonl.gz"), 2).ok());
  const std::string packed = folder.read("b.jsonl.gz");
  const std::string cut = folder.write("c.jsonl.gz", packed.substr(0, packed.size() - 100));
  for (int i = 0; i < 20; ++i) {
    auto dataset = open_dataset({cut}).value();
    const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = 1 + i % 4});
    ASSERT_FALSE(seen.ok());
    EXPECT_THAT(seen.error().message, HasSubstr("c.jsonl.gz:20001:"));
  }
}

TEST(JsonlDataset, SkipsWhatCannotBeReadAndKeepsItOutOfTheOutput) {
  TestFolder folder;
  const std::string path =
      folder.write("a.jsonl", "{\"text\":\"a\"}\n{\"text\n{\"id\":1}\n{\"text\":\"d\"}\n");
  auto dataset = open_dataset({path}).value();
  const auto seen =
      scan_all(*dataset, {.columns = {"text"}, .threads = 2, .on_error = OnError::kSkip}).value();
  EXPECT_EQ(seen.values.size(), 2);
  EXPECT_THAT(seen.values.at(3), ElementsAre("d"));
  ASSERT_EQ(dataset->skipped().count, 2);
  EXPECT_EQ(dataset->skipped().messages[0].first, RecordId{1});
  EXPECT_THAT(dataset->skipped().messages[1].second,
              HasSubstr("a.jsonl:3: field \"text\" is missing"));
  EXPECT_EQ(dataset->rows(), 4);
  const auto report = dataset->write(RecordSet(4, true), folder.path("out.jsonl"), 2).value();
  EXPECT_EQ(report.records, 2);
  EXPECT_EQ(folder.read("out.jsonl"), "{\"text\":\"a\"}\n{\"text\":\"d\"}\n");
  auto skipped = dataset->write_skipped(folder.path("skipped.jsonl")).value();
  ASSERT_TRUE(skipped.commit().ok());
  EXPECT_EQ(folder.read("skipped.jsonl"), "{\"text\n{\"id\":1}\n");
}

TEST(JsonlDataset, PassesLinesByteForByteInInputOrder) {
  TestFolder folder;
  const std::string a =
      folder.write("a.jsonl", "{\"b\" : 1,\"a\":2}\r\n\n   \n{\"x\":\"\\u0041\"}\n{\"last\":1.0}");
  const std::string b = folder.write("b.jsonl", "{\"c\":3}\n");
  auto dataset = open_dataset({a, b}).value();
  EXPECT_EQ(dataset->write(keep_rows(4, {0, 2, 3}), folder.path("out.jsonl"), 2).value().records,
            3);
  EXPECT_EQ(folder.read("out.jsonl"), "{\"b\" : 1,\"a\":2}\r\n{\"last\":1.0}\n{\"c\":3}\n");
}

TEST(JsonlDataset, RefusesToWriteFromInputsThatChanged) {
  TestFolder folder;
  const std::string before = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n";
  for (const std::string after : {"{\"text\":\"b\"}\n{\"text\":\"a\"}\n", "{\"text\":\"a\"}\n"}) {
    for (const std::string output : {"out.jsonl", "out.csv"}) {
      auto dataset = open_dataset({folder.write("a.jsonl", before)}).value();
      ASSERT_TRUE(scan_all(*dataset, {.columns = {"text"}, .threads = 1}).ok());
      folder.write("a.jsonl", after);
      std::filesystem::last_write_time(
          folder.path("a.jsonl"),
          std::filesystem::file_time_type::clock::now() + std::chrono::nanoseconds(1'000'000));
      const auto report = dataset->write(RecordSet(2, true), folder.path(output), 1);
      ASSERT_FALSE(report.ok());
      EXPECT_THAT(report.error().message,
                  testing::EndsWith("a.jsonl changed while it was read (run again)"));
      EXPECT_FALSE(std::filesystem::exists(folder.path(output)));
      EXPECT_FALSE(scan_all(*dataset, {.columns = {"text"}, .threads = 1}).ok());
    }
  }
}

TEST(JsonlDataset, RefusesToKeepRecordsThatAreNotThere) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", "{\"text\":\"a\"}\n")}).value();
  const auto report = dataset->write(RecordSet(2, true), folder.path("out.jsonl"), 1);
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr("2 records were to be written"));
}

TEST(JsonlDataset, WritesTheSameBytesWithAnyNumberOfThreads) {
  TestFolder folder;
  const std::string lines = many_lines(30'000);
  const std::string path = folder.write("a.jsonl", lines);
  auto dataset = open_dataset({path}).value();
  RecordSet keep(30'000);
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    if (i % 7 != 3) keep.insert(RecordId{i});
  }
  std::string expected;
  std::size_t begin = 0;
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    const std::size_t end = lines.find('\n', begin) + 1;
    if (i % 7 != 3) expected += lines.substr(begin, end - begin);
    begin = end;
  }
  for (const int threads : {1, 4}) {
    for (const std::string name : {"o.jsonl", "o.jsonl.gz", "o.jsonl.zst"}) {
      ASSERT_TRUE(
          dataset->write(keep, folder.path(fmt::format("{}{}", threads, name)), threads).ok());
    }
  }
  EXPECT_EQ(folder.read("1o.jsonl"), expected);
  EXPECT_EQ(folder.read("4o.jsonl"), expected);
  EXPECT_EQ(folder.read("1o.jsonl.gz"), folder.read("4o.jsonl.gz"));
  EXPECT_EQ(folder.read("1o.jsonl.zst"), folder.read("4o.jsonl.zst"));
  for (const std::string name : {"1o.jsonl.gz", "1o.jsonl.zst"}) {
    auto packed = open_dataset({folder.path(name).string()}).value();
    ASSERT_TRUE(scan_all(*packed, {.columns = {"text"}, .threads = 4}).ok());
    ASSERT_TRUE(
        packed->write(RecordSet(*packed->rows(), true), folder.path("again.jsonl"), 4).ok());
    EXPECT_EQ(folder.read("again.jsonl"), expected);
  }
}

TEST(JsonlDataset, NumbersRowsTheSameInEveryScan) {
  TestFolder folder;
  const std::string a = folder.write("a.jsonl", many_lines(9'000));
  const std::string b = folder.write("b.jsonl", many_lines(11'000));
  auto dataset = open_dataset({a, b}).value();
  const auto one = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 1}).value();
  const auto four = scan_all(*dataset, {.columns = {"id", "text"}, .threads = 4}).value();
  EXPECT_EQ(one.values, four.values);
  EXPECT_EQ(one.where, four.where);
  EXPECT_EQ(one.visits, 20'000);
  EXPECT_EQ(four.visits, 20'000);
  EXPECT_EQ(one.bytes, dataset->inputs()[0].bytes + dataset->inputs()[1].bytes);
  EXPECT_THAT(dataset->first_rows(), ElementsAre(0, 9'000));
  EXPECT_EQ(one.file.at(8'999), 0);
  EXPECT_EQ(one.file.at(9'000), 1);
  const RecordSet only = keep_rows(20'000, {5, 8'999, 9'000, 19'999});
  const auto some =
      scan_all(*dataset, {.columns = {"id", "text"}, .threads = 4, .only = &only}).value();
  EXPECT_EQ(some.values.size(), 4);
  for (const auto& [row, values] : some.values) EXPECT_EQ(values, one.values.at(row));
}

TEST(JsonlDataset, GoesOnWhereAScanPaused) {
  TestFolder folder;
  const std::string a = folder.write("a.jsonl", many_lines(9'000));
  const std::string b = folder.write("b.jsonl", many_lines(11'000));
  const auto whole =
      scan_all(*open_dataset({a, b}).value(), {.columns = {"text"}, .threads = 2}).value();
  std::map<std::uint32_t, std::vector<std::optional<std::string>>> values;
  Position position;
  ScanMemory memory;
  int parts = 0;
  int visits = 0;
  for (bool finished = false; !finished; ++parts) {
    auto dataset = open_dataset({a, b}).value();
    dataset->restore(memory);
    int asked = 0;
    const auto part = scan_all(*dataset, {.columns = {"text"},
                                          .threads = 2,
                                          .start = position,
                                          .pause = [&] { return ++asked > 2; }})
                          .value();
    values.insert(part.values.begin(), part.values.end());
    visits += part.visits;
    position = part.end.position;
    finished = part.end.finished;
    memory = dataset->memory();
    for (const auto& [row, where] : part.where) ASSERT_EQ(where, whole.where.at(row));
  }
  EXPECT_GT(parts, 2);
  EXPECT_EQ(values, whole.values);
  EXPECT_EQ(visits, 20'000);
  EXPECT_THAT(memory.first_rows, ElementsAre(0, 9'000));
}

TEST(JsonlDataset, ReadsLinesLongerThanABlock) {
  TestFolder folder;
  const std::string text(5 << 20, 'y');
  const std::string lines = "{\"text\":\"a\"}\n{\"text\":\"" + text + "\"}\n{\"text\":\"c\"}\n";
  auto dataset = open_dataset({folder.write("a.jsonl", lines)}).value();
  const auto seen = scan_all(*dataset, {.columns = {"text"}, .threads = 2}).value();
  EXPECT_THAT(seen.values.at(1), ElementsAre(text));
  EXPECT_THAT(seen.values.at(2), ElementsAre("c"));
  ASSERT_TRUE(dataset->write(RecordSet(3, true), folder.path("out.jsonl"), 2).ok());
  EXPECT_EQ(folder.read("out.jsonl"), lines);
}

TEST(JsonlDataset, LeavesNothingBehindWhenItCannotWrite) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", "{\"text\":\"a\"}\n")}).value();
  const auto missing_folder =
      dataset->write(RecordSet(1, true), folder.path("no/such/out.jsonl"), 1);
  ASSERT_FALSE(missing_folder.ok());
  EXPECT_THAT(missing_folder.error().message,
              HasSubstr("no/such/out.jsonl: No such file or directory"));
  const auto onto_input = dataset->write(RecordSet(1, true), folder.path("a.jsonl"), 1);
  ASSERT_FALSE(onto_input.ok());
  EXPECT_THAT(onto_input.error().message, HasSubstr("is an input"));
  const auto full = dataset->write(RecordSet(1, true), "/dev/full/out.jsonl", 1);
  EXPECT_FALSE(full.ok());
  EXPECT_THAT(folder.names(), ElementsAre("a.jsonl"));
}

TEST(JsonlDataset, ShowsAStagedOutputOnlyWhenItIsCommitted) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", "{\"text\":\"a\"}\n")}).value();
  {
    auto staged = dataset->write_staged(RecordSet(1, true), folder.path("out.jsonl"), {}).value();
    EXPECT_FALSE(std::filesystem::exists(folder.path("out.jsonl")));
  }
  EXPECT_THAT(folder.names(), ElementsAre("a.jsonl"));
  auto staged = dataset->write_staged(RecordSet(1, true), folder.path("out.jsonl"), {}).value();
  ASSERT_TRUE(staged.first.commit().ok());
  EXPECT_THAT(folder.names(), ElementsAre("a.jsonl", "out.jsonl"));
}

TEST(JsonlDataset, StopsAndReportsWhenAVisitorFails) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", many_lines(5'000))}).value();
  const auto end =
      dataset->scan({.columns = {"text"}, .threads = 2},
                    [](const Batch&, int) -> Status { return Error{Code::kCancelled, "enough"}; });
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "enough");
}

TEST(JsonlDataset, NamesDamagedCompressedFiles) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", many_lines(3'000))}).value();
  ASSERT_TRUE(dataset->write(RecordSet(3'000, true), folder.path("b.jsonl.gz"), 1).ok());
  ASSERT_TRUE(dataset->write(RecordSet(3'000, true), folder.path("b.jsonl.zst"), 1).ok());
  for (const std::string name : {"b.jsonl.gz", "b.jsonl.zst"}) {
    std::string bytes = folder.read(name);
    folder.write("cut_" + name, bytes.substr(0, bytes.size() - 20));
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    folder.write("bad_" + name, bytes);
    for (const std::string kind : {"cut_", "bad_"}) {
      auto damaged = open_dataset({folder.path(kind + name).string()}).value();
      const auto seen = scan_all(*damaged, {.columns = {"text"}, .threads = 2});
      ASSERT_FALSE(seen.ok()) << kind << name;
      EXPECT_THAT(seen.error().message, HasSubstr(kind + name));
    }
  }
}

TEST(JsonlDataset, SamplesFromAllOverTheInput) {
  TestFolder folder;
  auto dataset = open_dataset({folder.write("a.jsonl", many_lines(20'000))}).value();
  const Sample sample =
      dataset->sample({.columns = {"text"}, .max_bytes = 1 << 20, .visitor = {}}).value();
  EXPECT_GT(sample.rows, 1'000);
  EXPECT_LE(sample.bytes, (1 << 20) + 20'000);
  EXPECT_NEAR(static_cast<double>(sample.total_rows), 20'000, 2'000);
  EXPECT_EQ(sample.lengths[0].size(), sample.rows);
  EXPECT_THAT(dataset->columns().value(), ElementsAre("id", "text"));
}

TEST(JsonlDataset, ThreadsWithNothingLeftToWriteDoWhatIsBeside) {
  TestFolder folder;
  const auto dataset = open_dataset({folder.write("a.jsonl", "{\"a\":1}\n")}).value();
  std::atomic<int> calls{0};
  const auto count = [&]() -> Status {
    ++calls;
    return Done{};
  };
  auto staged = dataset->write_staged(RecordSet(1, true), folder.path("out.jsonl"),
                                      {.threads = 3, .beside = count});
  ASSERT_TRUE(staged.ok());
  EXPECT_EQ(calls, 3);
  const auto fail = [] { return Status(Error{Code::kUnavailable, "cannot write the other file"}); };
  const auto failed = dataset->write_staged(RecordSet(1, true), folder.path("out.jsonl"),
                                            {.threads = 3, .beside = fail});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "cannot write the other file");
}

}  // namespace
}  // namespace kin::data
