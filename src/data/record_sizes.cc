#include "data/record_sizes.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/file.h"
#include "data/byte_source.h"
#include "data/pages/footer.h"

namespace kin::data {

Result<RecordSizes> record_sizes(const Input& input, const CountIn& count) {
  RecordSizes sizes;
  if (input.type.format == Format::kParquet) {
    KIN_TRY(const File file, open_input(input));
    KIN_TRY(const Footer footer, read_footer(file));
    return RecordSizes{.records = footer.rows};
  }
  KIN_TRY(const auto source, ByteSource::open(input, 0));
  const bool quotes = input.type.format != Format::kJsonl;
  std::string piece(256 << 10, '\0');
  std::uint64_t length = 0;   // of the record so far
  std::uint64_t counted = 0;  // sum of count() in it
  bool quoted = false;        // in a value of CSV, where a line end is part of the record
  const auto end_record = [&] {
    ++sizes.records;
    sizes.longest = std::max(sizes.longest, length);
    sizes.most = std::max(sizes.most, counted);
    length = counted = 0;
  };
  for (;;) {
    KIN_TRY(const std::size_t got, source->read(piece.data(), piece.size()));
    if (got == 0) {
      if (length > 0) end_record();
      return sizes;
    }
    for (std::size_t at = 0; at < got;) {
      const auto* const end =
          static_cast<const char*>(std::memchr(piece.data() + at, '\n', got - at));
      const std::size_t line =
          end == nullptr ? got - at : static_cast<std::size_t>(end - piece.data()) - at + 1;
      if (quotes) {
        const auto marks = std::count(piece.data() + at, piece.data() + at + line, '"');
        quoted = quoted != (marks % 2 == 1);
      }
      length += line;
      counted += count({piece.data() + at, line});
      at += line;
      if (end != nullptr && !quoted) end_record();
    }
  }
}

}  // namespace kin::data
