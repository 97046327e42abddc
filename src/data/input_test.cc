#include "data/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

using testing::HasSubstr;

std::string error_of(const std::vector<std::string>& patterns) {
  TestFolder spool;
  const auto found = find_inputs(patterns, spool.path(""));
  return found ? "no error" : found.error().message;
}

TEST(FileType, GoesByExtensionInAnyCase) {
  EXPECT_EQ(file_type("a.jsonl").value(), (FileType{Format::kJsonl, Compression::kNone}));
  EXPECT_EQ(file_type("dir.csv/a.NDJSON.GZ").value(),
            (FileType{Format::kJsonl, Compression::kGzip}));
  EXPECT_EQ(file_type("a.json.zst").value(), (FileType{Format::kJsonl, Compression::kZstd}));
  EXPECT_EQ(file_type("a.b.parquet").value(), (FileType{Format::kParquet, Compression::kNone}));
  EXPECT_EQ(file_type("a.csv.bz2").value(), (FileType{Format::kCsv, Compression::kBzip2}));
  EXPECT_EQ(file_type("a.jsonl.xz").value(), (FileType{Format::kJsonl, Compression::kXz}));
  EXPECT_EQ(file_type("a.tsv").value(), (FileType{Format::kTsv, Compression::kNone}));
  for (const char* name : {"a", "a.txt", "a.gz", "a.parquet.gz", ".jsonl", "a.jsonl.lz4"}) {
    const auto type = file_type(name);
    ASSERT_FALSE(type.ok()) << name;
    EXPECT_THAT(type.error().message, HasSubstr(".jsonl, .ndjson, .json, .csv and .tsv"));
  }
}

TEST(FindInputs, ExpandsGlobsInOrderOfName) {
  TestFolder folder;
  for (const char* name : {"b.jsonl", "a.jsonl", "B.jsonl", "c.csv"}) folder.write(name, "{}\n");
  const auto found =
      find_inputs(std::vector{folder.path("*.jsonl").string()}, folder.path("")).value();
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].path, folder.path("B.jsonl"));
  EXPECT_EQ(found[1].path, folder.path("a.jsonl"));
  EXPECT_EQ(found[2].shown_as, folder.path("b.jsonl").string());
  EXPECT_EQ(found[2].bytes, 3);
}

TEST(FindInputs, NamesWhatIsWrong) {
  TestFolder folder;
  const std::string a = folder.write("a.jsonl", "{}\n");
  const std::string b = folder.write("b.csv", "x\n");
  EXPECT_THAT(error_of({}), HasSubstr("no input was named"));
  EXPECT_THAT(error_of({folder.path("no.jsonl").string()}),
              HasSubstr("no.jsonl: No such file or directory"));
  EXPECT_THAT(error_of({folder.path("*.parquet").string()}), HasSubstr("no file matches"));
  EXPECT_THAT(error_of({a, folder.path("./a.jsonl").string()}), HasSubstr("is named twice"));
  EXPECT_EQ(error_of({a, b}), "no error");
  std::filesystem::create_directory(folder.path("empty"));
  EXPECT_THAT(error_of({folder.path("empty").string()}), HasSubstr("no dataset file below"));
  EXPECT_THAT(error_of({folder.write("a.txt", "x")}), HasSubstr("a.txt has an unknown extension"));
  EXPECT_THAT(error_of({"-", "-"}), HasSubstr("named twice"));
}

TEST(FindInputs, AFolderMeansEveryDatasetFileBelowIt) {
  TestFolder folder;
  std::filesystem::create_directories(folder.path("d/e"));
  for (const char* name : {"d/b.jsonl", "d/e/a.csv", "d/notes.txt", "d/.hidden.jsonl"})
    folder.write(name, "x\n");
  std::vector<std::string> notes;
  const auto found =
      find_inputs(std::vector{folder.path("d").string()}, folder.path(""), &notes).value();
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].path, folder.path("d/b.jsonl"));
  EXPECT_EQ(found[0].relative, "b.jsonl");
  EXPECT_EQ(found[1].path, folder.path("d/e/a.csv"));
  EXPECT_EQ(found[1].relative, "e/a.csv");
  EXPECT_EQ(found[1].named_folder, folder.path("d"));
  ASSERT_EQ(notes.size(), 1);
  EXPECT_THAT(notes[0], HasSubstr("1 other file below"));
}

TEST(FindInputs, KeepsPlacesBelowTheFixedPartOfAGlobAndBelowACommonFolder) {
  TestFolder folder;
  for (const char* name : {"a", "b"}) std::filesystem::create_directories(folder.path(name));
  const std::string a = folder.write("a/x.jsonl", "{}\n");
  const std::string b = folder.write("b/x.jsonl", "{}\n");
  const auto globbed =
      find_inputs(std::vector{folder.path("**/x.jsonl").string()}, folder.path("")).value();
  ASSERT_EQ(globbed.size(), 2);
  EXPECT_EQ(globbed[1].relative, "b/x.jsonl");
  const auto named = find_inputs(std::vector{a, b}, folder.path("")).value();
  EXPECT_EQ(named[0].relative, "a/x.jsonl");
  EXPECT_EQ(find_inputs(std::vector{a}, folder.path("")).value()[0].relative, "x.jsonl");
}

TEST(FindInputs, KnowsAnArrayInAJsonFile) {
  TestFolder folder;
  const std::string array = folder.write("a.json", "\xef\xbb\xbf \n[{}]");
  const std::string lines = folder.write("b.json", "{}\n");
  const auto found = find_inputs(std::vector{array, lines}, folder.path("")).value();
  EXPECT_TRUE(found[0].array);
  EXPECT_FALSE(found[1].array);
}

TEST(FindInputs, SpoolsStandardInputAsJsonl) {
  TestFolder folder;
  const std::string text = folder.write("text", "{\"text\":\"x\"}\n");
  const int saved = ::dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(text.c_str(), "r", stdin), nullptr);
  const auto found = find_inputs(std::vector<std::string>{"-"}, folder.path(""));
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->front().shown_as, "standard input");
  EXPECT_EQ(found->front().type.format, Format::kJsonl);
  EXPECT_EQ(found->front().bytes, 13);
  EXPECT_NE(found->front().path, text);
}

}  // namespace
}  // namespace kin::data
