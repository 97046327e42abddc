// Rewrites pages so that they hold the kept rows alone.
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

// A chunk, and what becomes of its pages.
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
  // Texts to replace, and which of replaced() they are. They are written as PLAIN values.
  const RecordEdits* edits = nullptr;
  std::size_t edited_column = 0;
  KeptPages* kept = nullptr;  // where pages may be found; this is their last use

  bool is_kept(std::uint64_t row) const { return row >= begin && row < end && mask.kept(row); }
  // Rows [from, to) that are kept.
  std::uint64_t kept_between(std::uint64_t from, std::uint64_t to) const;
  bool repacks() const { return packing.codec != place.codec; }
};

// Filters the pages of one chunk after another. Its buffers are as large as the largest page. One
// thread only.
class PageFilter {
 public:
  // Called after each page, and may take the bytes and pages so far out of the output.
  using Flush = std::function<Status(FilteredPages& so_far)>;

  // A page of a chunk without repeated values, whose first row is known. Dictionary pages too.
  Status flat_page(const ChunkJob& job, const PagePlace& page, FilteredPages& out,
                   const Flush& flush);
  // All pages of a chunk in order, of any kind.
  Status whole_chunk(const ChunkJob& job, FilteredPages& out, const Flush& flush);
  // A chunk of kept rows with values that `value` gives, in pages of version 1. A value without
  // data is null. The bytes of a value are as ValueReader gives them.
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
  // Of the chunk that whole_chunk() is at.
  PageBuffer dictionary_bytes_;
  Dictionary dictionary_;
  std::uint64_t next_row_ = 0;  // the row that begins next, in the file
};

}  // namespace kin::data
