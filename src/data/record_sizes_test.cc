#include "data/record_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/testing/dataset_fixture.h"

namespace kin::data {
namespace {

RecordSizes sizes_of(const std::string& path) {
  const auto inputs = find_inputs(std::vector<std::string>{path}, ".").value();
  const auto letters = [](std::string_view piece) { return std::ranges::count(piece, 'x'); };
  return record_sizes(inputs.front(), letters).value();
}

TEST(RecordSizes, CountLinesAndTheLongest) {
  const TestFolder folder;
  const RecordSizes lines = sizes_of(folder.write("a.jsonl", "{\"a\":1}\n{\"a\":123}\n{}"));
  EXPECT_EQ(lines.records, 3U);
  EXPECT_EQ(lines.longest, 10U);
  const std::string piece(300'000, 'x');  // longer than one read
  const RecordSizes longest =
      sizes_of(folder.write("b.jsonl", "{\"a\":\"" + piece + piece + "\"}\n{}\n"));
  EXPECT_EQ(longest.records, 2U);
  EXPECT_EQ(longest.longest, 2 * piece.size() + 9);
  EXPECT_EQ(longest.most, 2 * piece.size());
}

TEST(RecordSizes, TakeQuotedLineEndsForPartsOfARecord) {
  const TestFolder folder;
  const RecordSizes sizes =
      sizes_of(folder.write("a.csv", "id,text\n1,\"one\ntwo \"\"and\"\" three\n\"\n2,x\n"));
  EXPECT_EQ(sizes.records, 3U);
  EXPECT_EQ(sizes.longest, 27U);
}

}  // namespace
}  // namespace kin::data
