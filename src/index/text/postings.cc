#include "index/text/postings.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "index/text/packing.h"

namespace kin::index {
namespace {

// The stored form; block_last() relies on `last` being the first field.
struct BlockHeader {
  std::uint32_t last = 0;       // document
  std::uint32_t postings = 0;   // where they start, from the end of the headers
  std::uint32_t positions = 0;  // where they start, from those of the term
  std::array<Impact, kBlockImpacts> impacts{};
};
static_assert(sizeof(BlockHeader) == 44);

std::size_t headers_size(std::uint32_t blocks) {
  return blocks > 1 ? blocks * sizeof(BlockHeader) : 0;
}

BlockHeader header_of(const std::uint8_t* postings, std::uint32_t block) {
  return load_le<BlockHeader>(postings + block * sizeof(BlockHeader));
}

// A full block: the widths of its gaps and frequencies in bits, then both packed. The last block
// is usually shorter, and is written number by number: only 128 numbers can be packed.
void append_block(std::string& out, std::span<const std::uint32_t> docs,
                  std::span<const std::uint32_t> frequencies, std::uint32_t previous) {
  std::array<std::uint32_t, kBlockDocs> gaps;
  for (std::size_t i = 0; i < docs.size(); ++i)
    gaps[i] = docs[i] - (i == 0 ? previous : docs[i - 1]);
  if (docs.size() < kBlockDocs) {
    append_numbers(out, std::span(gaps).first(docs.size()));
    append_numbers(out, frequencies);
    return;
  }
  const std::uint32_t gap_bits = bits_for(gaps.data());
  const std::uint32_t frequency_bits = bits_for(frequencies.data());
  out += static_cast<char>(gap_bits);
  out += static_cast<char>(frequency_bits);
  const std::size_t before = out.size();
  out.resize(before + packed_bytes(gap_bits) + packed_bytes(frequency_bits));
  auto* const at = reinterpret_cast<std::uint8_t*>(out.data() + before);
  pack(gaps.data(), gap_bits, at);
  pack(frequencies.data(), frequency_bits, at + packed_bytes(gap_bits));
}

// The impacts that no other impact dominates, at most four. Surplus ones are merged with a
// neighbour into one that dominates both, so that upper bounds still hold.
std::array<Impact, kBlockImpacts> best_impacts(std::span<const std::uint32_t> docs,
                                               std::span<const std::uint32_t> frequencies,
                                               std::span<const std::uint32_t> lengths) {
  // A shorter document with the same frequency scores more, and so does a higher frequency at the
  // same length. Sorted by length, then by falling frequency.
  std::array<std::uint64_t, kBlockDocs> order;
  for (std::size_t i = 0; i < docs.size(); ++i)
    order[i] = std::uint64_t{lengths[docs[i]]} << 32 | ~frequencies[i];
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(docs.size()));
  std::array<Impact, kBlockDocs> best;
  std::size_t count = 0;
  for (std::size_t i = 0; i < docs.size(); ++i) {
    const Impact impact{.frequency = ~static_cast<std::uint32_t>(order[i]),
                        .length = static_cast<std::uint32_t>(order[i] >> 32)};
    if (count == 0 || impact.frequency > best[count - 1].frequency) best[count++] = impact;
  }
  std::array<Impact, kBlockImpacts> joined;
  for (std::size_t i = 0; i < kBlockImpacts; ++i) {
    // The shortest length and the highest frequency of each share of the list.
    const std::size_t first = std::min(count - 1, i * count / kBlockImpacts);
    const std::size_t end = std::max(first + 1, (i + 1) * count / kBlockImpacts);
    joined[i] = {.frequency = best[end - 1].frequency, .length = best[first].length};
  }
  return joined;
}

// Reads a whole list and checks everything.
class PostingChecker {
 public:
  PostingChecker(std::string_view postings, std::string_view positions)
      : postings_(postings), positions_(positions) {}

  std::optional<PostingSizes> run(std::uint32_t documents, std::uint32_t segment_documents) {
    const std::uint32_t blocks = (documents + kBlockDocs - 1) / kBlockDocs;
    if (documents == 0 || documents > segment_documents) return std::nullopt;
    if (postings_.size() < headers_size(blocks)) return std::nullopt;
    used_.postings = headers_size(blocks);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const std::uint32_t size = std::min(kBlockDocs, documents - block * kBlockDocs);
      if (blocks > 1 && !header_fits(block, blocks)) return std::nullopt;
      if (!check_documents(block, size, segment_documents) || !check_positions(size))
        return std::nullopt;
      if (blocks > 1 && header(block).last != last_) return std::nullopt;
    }
    return used_;
  }

 private:
  BlockHeader header(std::uint32_t block) const {
    return header_of(reinterpret_cast<const std::uint8_t*>(postings_.data()), block);
  }

  bool header_fits(std::uint32_t block, std::uint32_t blocks) const {
    const BlockHeader found = header(block);
    return headers_size(blocks) + found.postings == used_.postings &&
           found.positions == used_.positions;
  }

  bool check_documents(std::uint32_t block, std::uint32_t size, std::uint32_t segment_documents) {
    std::array<std::uint32_t, kBlockDocs> gaps;
    const bool read = size == kBlockDocs ? read_packed_gaps(gaps)
                                         : take(postings_, used_.postings, size, gaps.data()) &&
                                               take(postings_, used_.postings, size, nullptr);
    if (!read) return false;
    std::uint64_t doc = last_;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (gaps[i] == 0 && (block > 0 || i > 0)) return false;  // only document 0 has a gap of 0
      doc += gaps[i];
      if (doc >= segment_documents) return false;
    }
    last_ = static_cast<std::uint32_t>(doc);
    return true;
  }

  bool read_packed_gaps(std::array<std::uint32_t, kBlockDocs>& gaps) {
    const std::string_view rest = postings_.substr(used_.postings);
    if (rest.size() < 2) return false;
    const auto gap_bits = static_cast<std::uint8_t>(rest[0]);
    const auto frequency_bits = static_cast<std::uint8_t>(rest[1]);
    if (gap_bits > 32 || frequency_bits > 32) return false;
    const std::size_t size = 2 + packed_bytes(gap_bits) + packed_bytes(frequency_bits);
    if (rest.size() < size) return false;
    unpack(at(rest, 2), gap_bits, gaps.data());
    used_.postings += size;
    return true;
  }

  bool check_positions(std::uint32_t size) {
    std::array<std::uint32_t, kBlockDocs> counts;
    if (!take(positions_, used_.positions, size, counts.data())) return false;
    const std::uint64_t total =
        std::accumulate(counts.begin(), counts.begin() + size, std::uint64_t{0});
    // A larger total cannot fit, and might not fit into 32 bits.
    if (total > 4 * (positions_.size() - used_.positions)) return false;
    return take(positions_, used_.positions, static_cast<std::uint32_t>(total), nullptr);
  }

  // Goes on behind `count` numbers of `area` at `used`, and reads them unless `numbers` is null.
  // False if they are cut off.
  static bool take(std::string_view area, std::size_t& used, std::uint32_t count,
                   std::uint32_t* numbers) {
    const auto size = numbers_size(area.substr(used), count);
    if (!size) return false;
    if (numbers != nullptr) read_numbers(at(area, used), count, numbers);
    used += *size;
    return true;
  }

  static const std::uint8_t* at(std::string_view bytes, std::size_t offset) {
    return reinterpret_cast<const std::uint8_t*>(bytes.data() + offset);
  }

  std::string_view postings_;
  std::string_view positions_;
  PostingSizes used_;
  std::uint32_t last_ = 0;
};

// Documents and frequencies of one block; each array has room for it.
void decode_block(const TermPostings& term, std::uint32_t block, std::uint32_t* docs,
                  std::uint32_t* frequencies) {
  const std::uint32_t blocks = term.blocks();
  const std::uint32_t size = std::min(kBlockDocs, term.documents - block * kBlockDocs);
  const std::uint8_t* data = term.postings + headers_size(blocks);
  // Gaps go on from the last document of the block before, which its header has.
  std::uint32_t previous = 0;
  if (blocks > 1) data += header_of(term.postings, block).postings;
  if (block > 0) previous = header_of(term.postings, block - 1).last;
  if (size == kBlockDocs) {
    unpack(data + 2, data[0], docs);
    unpack(data + 2 + packed_bytes(data[0]), data[1], frequencies);
  } else {
    read_numbers(read_numbers(data, size, docs), size, frequencies);
  }
  for (std::uint32_t i = 0; i < size; ++i) docs[i] = previous += docs[i];
}

}  // namespace

void PostingList::clear() {
  docs.clear();
  frequencies.clear();
  counts.clear();
  gaps.clear();
}

void encode_postings(const PostingList& list, std::span<const std::uint32_t> lengths,
                     std::string& postings, std::string& positions) {
  const auto blocks = static_cast<std::uint32_t>((list.docs.size() + kBlockDocs - 1) / kBlockDocs);
  const std::size_t headers = postings.size();
  postings.resize(headers + headers_size(blocks));
  const std::size_t data = postings.size();
  const std::size_t first_position = positions.size();
  std::uint32_t previous = 0;
  std::span<const std::uint32_t> gaps(list.gaps);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::size_t begin = std::size_t{block} * kBlockDocs;
    const std::size_t size = std::min<std::size_t>(kBlockDocs, list.docs.size() - begin);
    const auto docs = std::span(list.docs).subspan(begin, size);
    const auto frequencies = std::span(list.frequencies).subspan(begin, size);
    const auto counts = std::span(list.counts).subspan(begin, size);
    BlockHeader header{.last = docs.back(),
                       .postings = static_cast<std::uint32_t>(postings.size() - data),
                       .positions = static_cast<std::uint32_t>(positions.size() - first_position)};
    append_block(postings, docs, frequencies, previous);
    append_numbers(positions, counts);
    const auto here = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    append_numbers(positions, gaps.first(here));
    gaps = gaps.subspan(here);
    previous = header.last;
    if (blocks == 1) return;  // a single block has no header
    header.impacts = best_impacts(docs, frequencies, lengths);
    store_le(postings.data() + headers + block * sizeof(BlockHeader), header);
  }
}

std::optional<PostingSizes> check_postings(std::string_view postings, std::string_view positions,
                                           std::uint32_t documents,
                                           std::uint32_t segment_documents) {
  return PostingChecker(postings, positions).run(documents, segment_documents);
}

void decode_postings(const TermPostings& term, PostingList& list) {
  const std::size_t begin = list.docs.size();
  list.docs.resize(begin + term.documents);
  list.frequencies.resize(begin + term.documents);
  list.counts.resize(begin + term.documents);
  const std::uint8_t* positions = term.positions;
  for (std::uint32_t block = 0; block < term.blocks(); ++block) {
    const std::size_t at = begin + std::size_t{block} * kBlockDocs;
    const std::uint32_t size = std::min(kBlockDocs, term.documents - block * kBlockDocs);
    decode_block(term, block, list.docs.data() + at, list.frequencies.data() + at);
    positions = read_numbers(positions, size, list.counts.data() + at);
    const auto counts = std::span(list.counts).subspan(at, size);
    const std::size_t before = list.gaps.size();
    const auto here = std::accumulate(counts.begin(), counts.end(), std::uint32_t{0});
    list.gaps.resize(before + here);
    positions = read_numbers(positions, here, list.gaps.data() + before);
  }
}

PostingCursor::PostingCursor(const TermPostings& term) : term_(term) {
  docs_[0] = 0;
}

void PostingCursor::load(std::uint32_t block) {
  const std::uint32_t blocks = term_.blocks();
  loaded_ = true;
  has_positions_ = false;
  at_ = 0;
  block_ = block;
  if (block >= blocks) {
    size_ = 0;
    docs_[0] = kNoDoc;
    return;
  }
  size_ = std::min(kBlockDocs, term_.documents - block * kBlockDocs);
  decode_block(term_, block, docs_.data(), frequencies_.data());
  docs_[size_] = kNoDoc;  // a sentinel: seek() stops without comparing with size_
}

std::uint32_t PostingCursor::block_last(std::uint32_t block) const {
  if (term_.blocks() == 1) return kNoDoc - 1;
  return load_le<std::uint32_t>(term_.postings + block * sizeof(BlockHeader));  // `last` is first
}

std::uint32_t PostingCursor::block_of(std::uint32_t target) const {
  const std::uint32_t blocks = term_.blocks();
  if (blocks == 1) return block_;
  std::uint32_t low = block_;
  // Most moves are short: steps that double find a range, which the binary search narrows down.
  std::uint32_t step = 1;
  while (low + step < blocks && block_last(low + step - 1) < target) {
    low += step;
    step *= 2;
  }
  std::uint32_t high = std::min(blocks, low + step);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (block_last(middle) < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::array<Impact, kBlockImpacts> PostingCursor::impacts(std::uint32_t block) const {
  return header_of(term_.postings, block).impacts;
}

std::uint32_t PostingCursor::seek(std::uint32_t target) {
  if (!loaded_ || (size_ > 0 && docs_[size_ - 1] < target)) {
    // block_of() cannot tell for a single block, which has no header with its last document.
    const bool beyond = loaded_ && term_.blocks() == 1;
    load(beyond ? 1 : block_of(target));
  }
  while (docs_[at_] < target) ++at_;
  if (at_ < size_ || size_ == 0) return docs_[at_];
  load(block_ + 1);
  return docs_[0];
}

std::uint32_t PostingCursor::next() {
  if (!loaded_) {
    load(0);
    return docs_[0];
  }
  if (size_ == 0) return kNoDoc;
  if (++at_ == size_) load(block_ + 1);
  return docs_[at_];
}

void PostingCursor::skip(std::size_t count) {
  at_ += static_cast<std::uint32_t>(count);
  if (at_ >= size_ && size_ > 0) load(block_ + 1);
}

void PostingCursor::load_positions() {
  std::array<std::uint32_t, kBlockDocs> counts;
  const std::uint8_t* data = term_.positions;
  if (term_.blocks() > 1) data += header_of(term_.postings, block_).positions;
  data = read_numbers(data, size_, counts.data());
  starts_.assign(1, 0);
  for (std::uint32_t i = 0; i < size_; ++i) starts_.push_back(starts_.back() + counts[i]);
  positions_.resize(starts_.back());
  read_numbers(data, starts_.back(), positions_.data());
  // Gaps begin again with each document; its first one is a position.
  for (std::uint32_t i = 0; i < size_; ++i) {
    for (std::uint32_t k = starts_[i] + 1; k < starts_[i + 1]; ++k)
      positions_[k] += positions_[k - 1];
  }
  has_positions_ = true;
}

std::span<const std::uint32_t> PostingCursor::positions() {
  if (size_ == 0) return {};
  if (!has_positions_) load_positions();
  return std::span(positions_).subspan(starts_[at_], starts_[at_ + 1] - starts_[at_]);
}

}  // namespace kin::index
