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
  int writing_threads = 0;  // of them; the others run `beside`. 0: all
  std::uint64_t waiting_bytes = std::uint64_t{64} << 20;  // of pages that are made out of turn
  // As in WriteOptions.
  std::function<Status()> beside = {};
  std::function<void(std::uint64_t records)> written = {};
  const RecordEdits* edits = nullptr;
  KeptPages* kept = nullptr;  // unpacked pages of scans; each is dropped when it is written
  // Differences from the inputs; unset: each chunk keeps its codec, each row group its rows.
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
// removed rows; the rest is encoded and compressed as before. Schema, metadata and the order of
// columns and row groups stay; row groups without rows are left out. Statistics stay as far as they
// are true. The bytes do not depend on threads or memory.
Result<Rewritten> rewrite_parquet(const RewriteRequest& request);

// The memory of rewrite_parquet() per thread: the largest page of the file, decoded dictionaries,
// and the page being made. Reads page headers if the footer does not have the sizes.
Result<std::uint64_t> rewrite_memory(const File& file, const Footer& footer);

}  // namespace kin::data
