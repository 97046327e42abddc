// Rewrites pages so that they hold only the kept rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/edits.h"
#include "data/pages/codec.h"
#include "data/pages/footer.h"
#include "data/pages/page.h"
#include "data/pages/page_loader.h"
#include "data/pages/page_maker.h"
#include "data/pages/row_mask.h"
#include "data/pages/value_reader.h"
#include "data/pages/value_writer.h"

namespace kin::data {

// A chunk, and how its pages are filtered.
struct ChunkJob {
  const File& file;
  const Leaf& leaf;
  ChunkPlace place;
  RowMask mask;
  std::uint64_t first_row = 0;  // of the chunk's row group, in the file
  std::uint64_t rows = 0;       // of the row group
  std::uint64_t begin = 0;      // rows of the file outside [begin, end) are left out
  std::uint64_t end = 0;
  Packing packing;
  bool expand_dictionary = false;  // write values in place of indexes, and no dictionary
  // Edits that replace texts, and the column's index in replaced(). Texts are written PLAIN.
  const RecordEdits* edits = nullptr;
  std::size_t edited_column = 0;
  KeptPages* kept = nullptr;  // where pages may be found; this is their last use

  bool is_kept(std::uint64_t row) const { return row >= begin && row < end && mask.kept(row); }
  // The number of kept rows in [from, to).
  std::uint64_t kept_between(std::uint64_t from, std::uint64_t to) const;
  bool repacks() const { return packing.codec != place.codec; }
};

// Filters the pages of one chunk after another. Its buffers are as large as the largest page. One
// thread only.
class PageFilter {
 public:
  // Called after each page, and may take the bytes and pages so far out of the output.
  using Flush = std::function<Status(FilteredPages& so_far)>;

  // Filters a dictionary page, or a page without repeated values whose first row is known.
  Status flat_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out,
                   const Flush& flush);
  // All pages of a chunk in order, of any kind.
  Status whole_chunk(const ChunkJob& job, FilteredPages& out, const Flush& flush);
  // A chunk of the kept rows with values that `value` returns, in pages of version 1. A value
  // without data is null. The bytes of a value are as ValueReader gives them.
  using AddedValue = std::function<std::string_view(RecordId record)>;
  Status added_chunk(const ChunkJob& job, const AddedValue& value, FilteredPages& out,
                     const Flush& flush);

 private:
  struct RowsOfPage;
  class RowCopy;

  Status copy(const ChunkJob& job, const PagePlace& page, std::uint64_t rows, FilteredPages& out);
  Status load_dictionary(const ChunkJob& job, const PagePlace& page);
  Status dictionary_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out);
  Status repeated_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out,
                       const Flush& flush);
  Result<RowsOfPage> rows_of(const ChunkJob& job, const PagePlace& page,
                             const PageBody& body) const;
  Result<PageBody> unpack(const ChunkJob& job, const PagePlace& page);
  Status rewrite(const ChunkJob& job, const PagePlace& page, const PageBody& body,
                 FilteredPages& out, const Flush& flush);

  PageLoader loader_;
  PageBuffer packed_;
  // State of the chunk in whole_chunk().
  PageBuffer dictionary_bytes_;
  Dictionary dictionary_;
  std::uint64_t next_row_ = 0;  // the row that begins next, in the file
};

}  // namespace kin::data
