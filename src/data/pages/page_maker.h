// Makes data pages from levels and values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/pages/codec.h"
#include "data/pages/footer.h"
#include "data/pages/hybrid.h"
#include "data/pages/page.h"
#include "data/pages/value_writer.h"

namespace kin::data {

// How the pages of a chunk are compressed in the output.
struct Packing {
  Codec codec = Codec::kNone;
  std::optional<int> level;
};

// A page of the output.
struct WrittenPage {
  PageKind kind = PageKind::kData;
  Encoding encoding = Encoding::kPlain;
  std::uint32_t bytes = 0;           // with its header
  std::uint32_t unpacked_bytes = 0;  // with its header
  std::uint32_t values = 0;
  std::uint32_t rows = 0;  // that begin in it
};

// Some output pages of a chunk, and the counts of what was left out.
struct FilteredPages {
  // The bytes of the pages, each in its own string: a single string would be copied as it grows.
  std::vector<std::string> stored;
  std::uint64_t bytes = 0;  // of all of them
  std::vector<WrittenPage> pages;
  std::uint64_t removed_nulls = 0;
  bool nulls_unknown = false;  // a page was left out whose nulls were not counted
  bool changed = false;        // a value was left out or replaced
};

// Collects rows for data pages of one version and encoding. One thread only.
class PageMaker {
 public:
  struct Options {
    const Leaf& leaf;
    PageHeader like;  // whose version, checksum and compression the pages have
    Encoding encoding = Encoding::kPlain;
    int index_bits = 0;  // of dictionary indexes
    Packing packing;
  };
  PageMaker(const Options& options, PageCodec& codecs);

  // Compresses even if the page that the options copy is not compressed.
  void compress() { options_.like.compressed = true; }
  void begin_row() { ++rows_; }
  void put_levels(std::uint32_t definition, std::uint32_t repetition);
  void put_value(std::string_view value) { values_->put(value); }
  // True if the page has reached the usual size.
  bool is_full() const { return values_->bytes() >= kPageBytes; }
  bool is_empty() const { return levels_ == 0; }
  // Appends the page to `out`, and starts the next one.
  Status emit(FilteredPages& out);

  static constexpr std::size_t kPageBytes = 1 << 20;

 private:
  void take_levels(bool old, std::size_t (&lengths)[2]);

  Options options_;
  PageCodec& codecs_;
  HybridEncoder definition_;
  HybridEncoder repetition_;
  std::unique_ptr<ValueWriter> values_;
  std::uint32_t levels_ = 0;
  std::uint32_t nulls_ = 0;
  std::uint32_t rows_ = 0;
  std::string levels_bytes_;
  std::string body_;
  PageBuffer packed_;
};

// Appends the stored page `page`, compressed in another way, to `out`. The buffers are scratch
// memory.
Status repack_page(const PagePlace& page, std::string_view stored, Codec from, const Packing& to,
                   PageCodec& codecs, PageBuffer& unpacked, PageBuffer& packed, FilteredPages& out);

}  // namespace kin::data
