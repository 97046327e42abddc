// Writes kept rows of Parquet files as a Parquet file, without interpreting their values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/record_set.h"
#include "base/result.h"
#include "data/edits.h"
#include "data/kept_pages.h"
#include "data/pages/footer.h"
#include "data/pages/format.h"

namespace kin::data {

struct SourceFile {
  std::string shown_as;  // for messages
  const File& file;
  const Footer& footer;
  std::uint64_t first_row = 0;  // counted over all inputs
};

struct RewriteRequest {
  std::vector<SourceFile> files;  // at least one; all with the same schema_bytes()
  const RecordSet& keep;
  std::filesystem::path path;
  int threads = 1;
  int writing_threads = 0;  // of them; the others do what is beside. 0: all
  std::uint64_t waiting_bytes = std::uint64_t{64} << 20;  // of pages that are made out of turn
  // As in WriteOptions.
  std::function<Status()> beside = {};
  std::function<void(std::uint64_t records)> written = {};
  const RecordEdits* edits = nullptr;
  KeptPages* kept = nullptr;  // pages that scans unpacked; they go when they are written
  // What differs from the inputs; nothing: each chunk keeps its codec, each row group its rows.
  std::optional<Codec> codec;
  std::optional<int> level;
  std::optional<std::uint64_t> group_rows;
  // Key-value metadata; nothing: that of the first file.
  std::optional<std::vector<ThriftValue>> key_values;
};

struct Rewritten {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

// Pages of which all rows stay are copied as they are stored. Others lose the levels and values of
// the rows that go; the rest is encoded and compressed as it was. Schema, metadata and the order of
// columns and row groups stay; row groups without rows vanish. Statistics stay as far as they are
// true. The bytes do not depend on threads or memory.
Result<Rewritten> rewrite_parquet(const RewriteRequest& request);

// What rewrite_parquet() needs for each thread: the largest page of the file, dictionaries that are
// looked into, and the page that is made. Reads page headers where the footer does not tell.
Result<std::uint64_t> rewrite_memory(const File& file, const Footer& footer);

}  // namespace kin::data
