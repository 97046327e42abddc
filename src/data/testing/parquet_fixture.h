// Fixtures for tests of Parquet files: files that DuckDB makes, and footers changed by hand.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "data/duckdb/session.h"
#include "data/pages/thrift_compact.h"
#include "data/testing/dataset_fixture.h"

namespace kin::data {

class ParquetTest : public testing::Test {
 protected:
  std::string make(const std::string& name, const std::string& select,
                   const std::string& options = "") {
    const std::string path = folder.path(name).string();
    const Status made = duckdb->run("COPY (" + select + ") TO " + sql_text(path) +
                                    " (FORMAT parquet" + options + ")");
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return path;
  }
  // Changes the footer of the file `name`, a FileMetaData of parquet.thrift.
  void change_footer(const std::string& name, const std::function<void(ThriftValue&)>& change) {
    constexpr std::size_t kTail = 8;
    std::string bytes = folder.read(name);
    const auto length = load_le<std::uint32_t>(bytes.data() + bytes.size() - kTail);
    const std::size_t begin = bytes.size() - kTail - length;
    ThriftValue footer = decode_thrift(std::string_view(bytes).substr(begin, length)).value();
    change(footer);
    bytes.resize(begin);
    encode_thrift(bytes, footer);
    append_le(bytes, static_cast<std::uint32_t>(bytes.size() - begin));
    folder.write(name, bytes + "PAR1");
  }
  // All of a query's cells in one string.
  std::string ask(const std::string& sql) {
    const auto cells = duckdb->query(sql);
    if (!cells) return cells.error().message;
    std::string all;
    for (const auto& row : *cells) {
      for (const auto& cell : row) all += cell.value_or("NULL") + "|";
      all += "\n";
    }
    return all;
  }
  std::string from(const std::string& name) { return sql_text(folder.path(name).string()); }

  TestFolder folder;
  std::unique_ptr<DuckDbSession> duckdb =
      DuckDbSession::open({.threads = 1}, folder.path("duckdb")).value();
};

}  // namespace kin::data
