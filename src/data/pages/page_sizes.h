// The sizes of the largest pages of a column, which decide how much memory reading takes.
#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"
#include "data/pages/footer.h"

namespace kin::data {

struct PageSizes {
  std::uint64_t stored = 0;    // as stored
  std::uint64_t held = 0;      // as stored, of pages that are not unpacked piece by piece
  std::uint64_t unpacked = 0;  // 0 if nothing is compressed
  std::uint64_t dictionary = 0;
  std::uint64_t dictionary_values = 0;
  std::uint64_t average_value = 0;  // bytes, of the page where it is largest
};

// The largest over all row groups. Reads page headers of chunks larger than a usual page, and
// treats smaller chunks as one page.
Result<PageSizes> largest_pages(const File& file, const Footer& footer, std::size_t leaf);

}  // namespace kin::data
