// The values of one column chunk as text, row by row.
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
#include "data/pages/codec.h"
#include "data/pages/footer.h"
#include "data/pages/page.h"
#include "data/pages/page_loader.h"
#include "data/pages/value_reader.h"
#include "data/pages/value_text.h"

namespace kin::data {

// Reads chunks of columns without repeated values, a page at a time: its memory is the largest
// page and dictionary. Buffers are kept from chunk to chunk. One thread only.
class ColumnReader {
 public:
  // `file`, `leaf` and `kept`, which may be null, must stay while the chunk is read.
  Status open(const File& file, const Leaf& leaf, const ChunkPlace& chunk, TextForm form,
              KeptPages* kept);
  // Moves on to `row` of the chunk. Pages before it are not unpacked.
  Status seek(std::uint64_t row);
  // Makes the values of some rows from the current one on available, and returns their number, at
  // least one. Fails after the last row.
  Result<std::size_t> load();
  // The value of the `i`th loaded row, counted from the current one. Without data if it is null.
  // Valid until the next seek(), or a load() after all loaded rows were left.
  std::string_view value(std::size_t i) const { return values_[at_ + i]; }
  // Whether that value should be text but is not valid UTF-8.
  bool is_bad_text(std::size_t i) const { return !bad_.empty() && bad_[at_ + i]; }
  // Moves past the first `count` loaded rows.
  void advance(std::size_t count);

 private:
  static constexpr std::size_t kBatch = 1024;

  Status next_page();
  Status open_page(const PagePlace& page);
  Status load_dictionary(const PagePlace& page);
  Status load_levels();
  Status load_values();
  void keep_text(std::string_view raw);
  void finish_texts();

  const File* file_ = nullptr;
  const Leaf* leaf_ = nullptr;
  ChunkPlace chunk_;
  TextForm form_ = TextForm::kText;
  KeptPages* kept_ = nullptr;
  std::optional<PageWalk> walk_;
  std::uint64_t row_ = 0;       // the current one
  std::uint64_t page_end_ = 0;  // the row behind the page that is open

  PageLoader loader_;
  PageBuffer dictionary_bytes_;
  Dictionary dictionary_;
  std::optional<LevelReader> definition_;
  std::unique_ptr<ValueReader> reader_;
  std::optional<Encoding> reader_encoding_;

  std::uint32_t levels_[kBatch] = {};  // that were read and have no values yet
  std::size_t level_at_ = 0;
  std::size_t level_count_ = 0;
  std::vector<std::string_view> raw_;
  std::vector<std::string_view> values_;
  std::vector<bool> bad_;  // empty if no value is
  std::size_t at_ = 0;     // of the current row in values_
  std::string made_;       // texts made of other values
  struct Made {
    std::size_t value = 0;
    std::size_t begin = 0;
  };
  std::vector<Made> made_places_;
};

}  // namespace kin::data
