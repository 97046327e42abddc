#include "data/pages/page_sizes.h"

#include <algorithm>

#include "data/pages/page.h"

namespace kin::data {
namespace {

// A chunk up to this size is treated as one page.
constexpr std::uint64_t kSmall = 2 << 20;

Status look_into(const File& file, const ChunkPlace& chunk, PageSizes& sizes) {
  PageWalk walk(file, chunk);
  for (;;) {
    KIN_TRY(const std::optional<PagePlace> page, walk.next());
    if (!page) return Done{};
    const PageHeader& header = page->header;
    const std::uint64_t stored = page->header_bytes + std::uint64_t{header.packed_bytes};
    sizes.stored = std::max(sizes.stored, stored);
    if (!is_streamed(header, chunk.codec)) sizes.held = std::max(sizes.held, stored);
    if (header.kind == PageKind::kDictionary) {
      sizes.dictionary = std::max<std::uint64_t>(sizes.dictionary, header.bytes);
      sizes.dictionary_values = std::max<std::uint64_t>(sizes.dictionary_values, header.values);
      continue;
    }
    if (chunk.codec != Codec::kNone)
      sizes.unpacked = std::max<std::uint64_t>(sizes.unpacked, header.bytes);
    sizes.average_value = std::max<std::uint64_t>(
        sizes.average_value, header.bytes / std::max<std::uint64_t>(header.values, 1));
  }
}

}  // namespace

Result<PageSizes> largest_pages(const File& file, const Footer& footer, std::size_t leaf) {
  PageSizes sizes;
  for (const GroupPlace& group : footer.groups) {
    const ChunkPlace& chunk = group.chunks[leaf];
    if (chunk.bytes > kSmall || chunk.unpacked_bytes > kSmall) {
      KIN_RETURN_IF_ERROR(look_into(file, chunk, sizes));
      continue;
    }
    sizes.stored = std::max(sizes.stored, chunk.bytes);
    sizes.held = std::max(sizes.held, chunk.bytes);
    sizes.average_value = std::max(sizes.average_value,
                                   chunk.unpacked_bytes / std::max<std::uint64_t>(chunk.values, 1));
    sizes.unpacked = std::max(sizes.unpacked, chunk.unpacked_bytes);
    sizes.dictionary = std::max(sizes.dictionary, chunk.unpacked_bytes);
    sizes.dictionary_values = std::max(sizes.dictionary_values, chunk.unpacked_bytes / 8);
  }
  return sizes;
}

}  // namespace kin::data
