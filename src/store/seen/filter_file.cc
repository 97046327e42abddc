#include "store/seen/filter_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes.h"

namespace kin::store {
namespace {

using Block = BlockFilter::Block;

// Pages of a checksum (u64), zeros up to 32, and 127 blocks; the last may hold fewer, zeros after.
// Then a footer: magic u64, version u32, zero u32, blocks u64, checksum u64.
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHeaderBytes = 32;
constexpr std::uint64_t kBlocksPerPage = (kPageBytes - kHeaderBytes) / sizeof(Block);
constexpr std::uint64_t kMagic = 0x31544c494658494bULL;  // "KIXFILT1"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFooterBytes = 32;
// The position of the footer in its checksum: a number that no page has.
constexpr std::uint64_t kFooterPlace = ~std::uint64_t{0};

std::uint64_t sum(std::string_view bytes, FilterIdentity identity, std::uint64_t place) {
  // The position is part of the checksum, so that pages in a wrong order are refused.
  return hash64(bytes, identity.value ^ mix64(place + 1));
}

std::uint64_t pages_for(std::uint64_t blocks) {
  return (blocks + kBlocksPerPage - 1) / kBlocksPerPage;
}

std::string footer(std::uint64_t blocks, FilterIdentity identity) {
  std::string bytes;
  append_le(bytes, kMagic);
  append_le(bytes, kVersion);
  append_le(bytes, std::uint32_t{0});
  append_le(bytes, blocks);
  append_le(bytes, sum(bytes, identity, kFooterPlace));
  return bytes;
}

Error damage(const std::filesystem::path& path, std::string_view what) {
  return Error{Code::kDataLoss, fmt::format("{} is damaged: {}", path.string(), what)};
}

}  // namespace

Status write_filter(Disk& disk, const std::filesystem::path& path, FilterIdentity identity,
                    const BlockFilter& filter) {
  // Not under a temporary name: a truncated filter fails its checks and is rebuilt from the
  // ids.
  KIN_TRY(const auto file, disk.create(path));
  // Pages in one write.
  constexpr std::size_t kBatch = 64;
  std::string out;
  const auto blocks = filter.blocks();
  for (std::uint64_t page = 0; page < pages_for(blocks.size()); ++page) {
    const std::uint64_t from = page * kBlocksPerPage;
    const auto part =
        blocks.subspan(from, std::min<std::uint64_t>(kBlocksPerPage, blocks.size() - from));
    const std::size_t start = out.size();
    out.append(kHeaderBytes, '\0');
    out.append(as_bytes_view(part));
    out.resize(start + kPageBytes);
    const std::string_view body = std::string_view(out).substr(start + 8);
    store_le(out.data() + start, sum(body, identity, page));
    if (out.size() >= kBatch * kPageBytes) {
      KIN_RETURN_IF_ERROR(file->append(out));
      out.clear();
    }
  }
  out += footer(blocks.size(), identity);
  KIN_RETURN_IF_ERROR(file->append(out));
  return file->sync();
}

Result<FilterFile> FilterFile::open(Disk& disk, const std::filesystem::path& path,
                                    FilterIdentity identity) {
  KIN_TRY(auto file, disk.open_to_read(path));
  FilterFile filter(std::move(file), path, identity);
  KIN_TRY(const std::uint64_t size, filter.file_->size());
  if (size < kFooterBytes) return damage(path, "it is too short");
  std::string end(kFooterBytes, '\0');
  KIN_RETURN_IF_ERROR(filter.file_->read_at(size - kFooterBytes, end.data(), end.size()));
  // The number of blocks comes from the footer itself; comparing the whole footer checks it.
  filter.blocks_ = load_le<std::uint64_t>(end.data() + 16);
  if (end != footer(filter.blocks_, identity) || filter.blocks_ == 0 ||
      size != filter.file_bytes()) {
    return damage(path, "it does not end as the filter of its file");
  }
  return filter;
}

std::uint64_t FilterFile::file_bytes() const {
  return pages_for(blocks_) * kPageBytes + kFooterBytes;
}

Status FilterFile::read_page(std::uint64_t page, char* to) const {
  KIN_RETURN_IF_ERROR(file_->read_at(page * kPageBytes, to, kPageBytes));
  const std::string_view body(to + 8, kPageBytes - 8);
  if (load_le<std::uint64_t>(to) != sum(body, identity_, page)) {
    return damage(path_, fmt::format("the checksum of page {} is wrong", page));
  }
  return Done{};
}

Result<bool> FilterFile::may_contain(SeenId id) const {
  const std::uint64_t block = BlockFilter::block_of(id, blocks_);
  // On the stack: look-ups of several threads share the object.
  alignas(64) char page[kPageBytes];
  KIN_RETURN_IF_ERROR(read_page(block / kBlocksPerPage, page));
  const std::size_t at = kHeaderBytes + (block % kBlocksPerPage) * sizeof(Block);
  return BlockFilter::passes(load_le<Block>(page + at), id);
}

Result<std::shared_ptr<const BlockFilter>> FilterFile::load() const {
  HugeArray<Block> blocks(blocks_);
  alignas(64) char page[kPageBytes];
  for (std::uint64_t from = 0; from < blocks_; from += kBlocksPerPage) {
    KIN_RETURN_IF_ERROR(read_page(from / kBlocksPerPage, page));
    const std::uint64_t count = std::min(kBlocksPerPage, blocks_ - from);
    std::memcpy(&blocks[from], page + kHeaderBytes, count * sizeof(Block));
  }
  return std::make_shared<const BlockFilter>(std::move(blocks));
}

}  // namespace kin::store
