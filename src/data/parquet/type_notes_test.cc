#include "data/parquet/type_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TypeNotes, SayWhatAFormatHasNoTypeFor) {
  const std::vector<ParquetColumn> columns = {{"id", "BIGINT"},
                                              {"day", "DATE"},
                                              {"tags", "VARCHAR[]"},
                                              {"meta", "STRUCT(\"DATE\" VARCHAR, at TIMESTAMP)"},
                                              {"raw", "BLOB"}};
  std::vector<std::string> notes;
  add_type_notes(columns, Format::kParquet, notes);
  EXPECT_THAT(notes, IsEmpty());
  add_type_notes(columns, Format::kJsonl, notes);
  EXPECT_THAT(
      notes,
      ElementsAre("JSONL has no dates: column `day` was written as text",
                  "JSONL has no dates: column `meta` was written as text",
                  "JSONL has no binary values: column `raw` was written as text with escapes"));
  notes.clear();
  add_type_notes({columns[2]}, Format::kTsv, notes);
  EXPECT_EQ(notes.front(), "TSV has no nesting: column `tags` was written as JSON text");
}

TEST(TypeNotes, SayWhatBecomesOfDecimalsInLists) {
  std::vector<std::string> notes;
  add_type_notes({{"prices", "DECIMAL(38,9)[]"}}, Format::kJsonl, notes);
  EXPECT_THAT(notes, ElementsAre("JSONL has no decimals: column `prices` was written as JSON "
                                 "numbers with all digits, of which most readers keep 15"));
}

TEST(TypeNotes, SayWhatIsStoredInAnotherWay) {
  std::vector<std::string> notes;
  add_storage_notes({{"text", "BYTE_ARRAY", ""},
                     {"at", "INT96", ""},
                     {"n", "INT32", "INT_8"},
                     {"price", "BYTE_ARRAY", "DECIMAL"},
                     {"large", "FIXED_LEN_BYTE_ARRAY", "DECIMAL"}},
                    {{"text", "BYTE_ARRAY", "UTF8"},
                     {"at", "INT64", "TIMESTAMP_MICROS"},
                     {"n", "INT32", "INT_8"},
                     {"price", "INT64", "DECIMAL"},
                     {"large", "DOUBLE", ""}},
                    notes);
  EXPECT_THAT(
      notes,
      ElementsAre("column `at` was stored as INT96 and is now stored as INT64 "
                  "(TIMESTAMP_MICROS), without what was finer than a microsecond",
                  "column `price` was stored as BYTE_ARRAY (DECIMAL) and is now stored as INT64 "
                  "(DECIMAL), with the same values",
                  "column `large` was stored as FIXED_LEN_BYTE_ARRAY (DECIMAL) and is now "
                  "stored as DOUBLE, so that other programs may read it differently"));
}

}  // namespace
}  // namespace kin::data
