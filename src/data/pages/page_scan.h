// Scans columns of a Parquet file through its pages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/batch.h"
#include "data/dataset.h"
#include "data/kept_pages.h"
#include "data/pages/footer.h"
#include "data/pages/value_text.h"

namespace kin::data {

struct ScannedColumn {
  std::optional<std::size_t> leaf;  // nothing: a column that may be missing, and is
  TextForm form = TextForm::kText;
};

// The leaves for `names` in the file; nothing if one of them has to be scanned by DuckDB. The last
// `optional` ones may be missing.
std::optional<std::vector<ScannedColumn>> scanned_columns(const Footer& footer,
                                                          const std::vector<std::string>& names,
                                                          std::size_t optional);

struct PageScanRequest {
  const File& file;
  const Footer& footer;
  std::string shown_as;
  std::uint32_t file_number = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t first_row = 0;  // of the file, counted over all inputs
  std::uint64_t begin = 0;      // rows of the file to visit: whole row groups, if all are wanted
  std::uint64_t end = 0;
  std::vector<ScannedColumn> columns;
  std::vector<std::string> names;  // of the columns, for messages
  const RecordSet* only = nullptr;
  int threads = 1;
  KeptPages* kept = nullptr;  // pages for later scans; nothing: none are kept
  // Called for a record whose text is not valid UTF-8. An error ends the scan.
  std::function<Status(RecordId record, Error why)> on_bad_record;
};

// Calls `visitor` for the rows, as Dataset::scan() does. Memory: for each thread the largest page
// of every column.
Status scan_pages(const PageScanRequest& request, const Visitor& visitor);

// The memory of scan_pages() per thread, for pages that are not kept and if all are kept.
struct PageScanMemory {
  std::uint64_t thread = 0;
  std::uint64_t thread_beside_kept = 0;
};
// Reads page headers if the footer does not have the sizes.
Result<PageScanMemory> page_scan_memory(const File& file, const Footer& footer,
                                        const std::vector<ScannedColumn>& columns);
// The memory of all pages of the columns if they are kept.
std::uint64_t kept_scan_bytes(const Footer& footer, const std::vector<ScannedColumn>& columns);

}  // namespace kin::data
