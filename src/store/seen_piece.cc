#include "store/seen_piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "base/check.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// Pages; then the index: per page the first id (high u64, for strings also low u64) and a checksum
// u64; then the footer: magic u64, version u32, kind u32, number, ids, pages, digest, first high
// and low, last high and low (u64 each), checksum u64.
constexpr std::uint64_t kMagic = 0x314e4545534e494bULL;  // "KINSEEN1"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFooterBytes = 16 + 8 * 8 + 8;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
// Syncing while writing keeps the log's own syncs from waiting for a whole run at once.
constexpr std::uint64_t kSyncEvery = std::uint64_t{16} << 20;

std::size_t words_per_id(IdKind kind) {
  return kind == IdKind::kText ? 2 : 1;
}

std::string footer(const PieceInfo& info, IdKind kind) {
  std::string bytes;
  append_le(bytes, kMagic);
  append_le(bytes, kVersion);
  append_le(bytes, static_cast<std::uint32_t>(kind));
  for (const std::uint64_t value : {info.number, info.ids, info.pages, info.digest, info.first.high,
                                    info.first.low, info.last.high, info.last.low}) {
    append_le(bytes, value);
  }
  append_le(bytes, checksum(bytes));
  return bytes;
}

std::uint64_t index_sum(std::string_view bytes, std::uint64_t number) {
  return hash64(bytes, mix64(number));
}

}  // namespace

std::uint64_t digest_of(SeenId id) {
  return mix64(id.high + id.low * 0x9e3779b97f4a7c15ULL);
}

fs::path piece_path(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("{:08}.ids", number);
}

fs::path filter_path(const fs::path& folder, std::uint64_t number) {
  return folder / fmt::format("{:08}.filter", number);
}

FilterIdentity identity_of(const PieceInfo& info) {
  return {mix64(info.digest) ^ mix64(info.ids + 1) ^ info.number};
}

PieceWriter::PieceWriter(const SeenPlacement& placement, const Plan& plan,
                         std::unique_ptr<DiskFile> file)
    : placement_(placement),
      info_{.number = plan.number},
      file_(std::move(file)),
      filter_(std::make_shared<BlockFilter>(plan.ids, plan.filter_bits)),
      page_(placement.kind) {
  buffer_.reserve(kBufferBytes + kSeenPageBytes);
}

Result<std::unique_ptr<PieceWriter>> PieceWriter::create(const SeenPlacement& placement,
                                                         const Plan& plan) {
  KIN_TRY(auto file, placement.disk->create(piece_path(placement.folder, plan.number)));
  return std::unique_ptr<PieceWriter>(new PieceWriter(placement, plan, std::move(file)));
}

Status PieceWriter::add(std::span<const SeenId> ids) {
  constexpr std::size_t kAhead = 16;
  if (ids.empty()) return Done{};
  if (info_.ids == 0) info_.first = ids.front();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) filter_->prefetch(ids[i + kAhead]);
    if (!page_.add(ids[i])) {
      KIN_RETURN_IF_ERROR(finish_page());
      page_.add(ids[i]);
    }
    info_.digest += digest_of(ids[i]);
    filter_->add(ids[i]);
  }
  info_.last = ids.back();
  info_.ids += ids.size();
  return Done{};
}

Status PieceWriter::finish_page() {
  index_.push_back(page_.first().high);
  if (placement_.kind == IdKind::kText) index_.push_back(page_.first().low);
  buffer_ += page_.finish({info_.number, info_.pages++});
  return buffer_.size() >= kBufferBytes ? write_out() : Status(Done{});
}

Status PieceWriter::write_out() {
  KIN_RETURN_IF_ERROR(file_->append(buffer_));
  unsynced_ += buffer_.size();
  buffer_.clear();
  if (unsynced_ < kSyncEvery) return Done{};
  unsynced_ = 0;
  return file_->sync();
}

Result<PieceWriter::Finished> PieceWriter::finish() {
  KIN_CHECK(info_.ids > 0, "a piece holds ids");
  KIN_RETURN_IF_ERROR(finish_page());
  const std::string_view index = as_bytes_view(std::span<const std::uint64_t>(index_));
  buffer_ += index;
  append_le(buffer_, index_sum(index, info_.number));
  buffer_ += footer(info_, placement_.kind);
  KIN_RETURN_IF_ERROR(file_->append(buffer_));
  KIN_RETURN_IF_ERROR(file_->sync());
  KIN_RETURN_IF_ERROR(write_filter(*placement_.disk, filter_path(placement_.folder, info_.number),
                                   identity_of(info_), *filter_));
  return Finished{info_, std::move(filter_)};
}

Piece::Piece(SeenPlacement placement, const PieceInfo& info, std::unique_ptr<DiskFile> file)
    : placement_(std::move(placement)), info_(info), file_(std::move(file)) {}

Result<std::shared_ptr<const Piece>> Piece::open(const SeenPlacement& placement,
                                                 const PieceInfo& info) {
  KIN_TRY(auto file, placement.disk->open_to_read(piece_path(placement.folder, info.number)));
  std::shared_ptr<Piece> piece(new Piece(placement, info, std::move(file)));
  KIN_RETURN_IF_ERROR(piece->load_index());
  return std::shared_ptr<const Piece>(std::move(piece));
}

Status Piece::load_index() {
  const std::size_t words = info_.pages * words_per_id(placement_.kind);
  const std::size_t index_bytes = words * sizeof(std::uint64_t);
  KIN_TRY(file_bytes_, file_->size());
  if (file_bytes_ != info_.pages * kSeenPageBytes + index_bytes + 8 + kFooterBytes) {
    return damage("its size is not the one that the manifest says");
  }
  std::string end(index_bytes + 8 + kFooterBytes, '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(info_.pages * kSeenPageBytes, end.data(), end.size()));
  const std::string_view view(end);
  if (view.substr(index_bytes + 8) != footer(info_, placement_.kind)) {
    return damage("its end is not the one that the manifest says");
  }
  if (load_le<std::uint64_t>(end.data() + index_bytes) !=
      index_sum(view.substr(0, index_bytes), info_.number)) {
    return damage("the checksum of its index does not hold");
  }
  index_.resize(words);
  std::memcpy(index_.data(), end.data(), index_bytes);
  return Done{};
}

Error Piece::damage(std::string_view what) const {
  return Error{
      Code::kDataLoss,
      fmt::format("{} is damaged: {}", piece_path(placement_.folder, info_.number).string(), what)};
}

std::uint64_t Piece::page_of(SeenId id) const {
  if (placement_.kind == IdKind::kNumber) {
    const auto above = std::upper_bound(index_.begin(), index_.end(), id.high);
    return above == index_.begin() ? 0 : static_cast<std::uint64_t>(above - index_.begin()) - 1;
  }
  std::uint64_t begin = 0;
  std::uint64_t end = info_.pages;
  while (end - begin > 1) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    const SeenId first{index_[2 * middle], index_[2 * middle + 1]};
    (first <= id ? begin : end) = middle;
  }
  return begin;
}

Result<SeenPage> Piece::read_page(std::uint64_t page, SeenPageBytes& into) const {
  KIN_RETURN_IF_ERROR(file_->read_at(page * kSeenPageBytes, into.bytes.data(), kSeenPageBytes));
  auto view = SeenPage::read(into, {info_.number, page}, placement_.kind);
  if (!view) return damage(fmt::format("page {}: {}", page, view.error().message));
  return view;
}

Result<bool> Piece::contains(SeenId id, SeenPageBytes& scratch) const {
  KIN_TRY(const SeenPage page, read_page(page_of(id), scratch));
  return page.contains(id);
}

Status Piece::read_ids(std::uint64_t page, std::uint64_t count, std::vector<SeenId>& out) const {
  SeenPageBytes bytes;
  const std::uint64_t end = std::min(info_.pages, page + count);
  for (; page < end; ++page) {
    KIN_TRY(const SeenPage view, read_page(page, bytes));
    view.append_to(out);
  }
  return Done{};
}

Status Piece::for_each(const std::function<Status(SeenId)>& visit) const {
  std::vector<SeenId> ids;
  for (std::uint64_t page = 0; page < info_.pages; ++page) {
    ids.clear();
    KIN_RETURN_IF_ERROR(read_ids(page, 1, ids));
    for (const SeenId& id : ids) KIN_RETURN_IF_ERROR(visit(id));
  }
  return Done{};
}

Result<FilterFile> Piece::open_filter() const {
  return FilterFile::open(*placement_.disk, filter_path(placement_.folder, info_.number),
                          identity_of(info_));
}

Result<std::shared_ptr<const BlockFilter>> Piece::rebuild_filter(double bits_per_id) const {
  auto filter = std::make_shared<BlockFilter>(info_.ids, bits_per_id);
  KIN_RETURN_IF_ERROR(for_each([&](SeenId id) -> Status {
    filter->add(id);
    return Done{};
  }));
  return std::shared_ptr<const BlockFilter>(std::move(filter));
}

Status Piece::verify(const FilterFile* filter_file) const {
  const fs::path filter_name = filter_path(placement_.folder, info_.number);
  if (filter_file == nullptr) {
    return Error{Code::kDataLoss,
                 fmt::format("{} is damaged or gone (the next writer makes it again)",
                             filter_name.string())};
  }
  KIN_TRY(const auto filter, filter_file->load());
  PieceInfo found{.number = info_.number, .pages = info_.pages};
  KIN_RETURN_IF_ERROR(for_each([&](SeenId id) -> Status {
    if (found.ids++ == 0) {
      found.first = id;
    } else if (id <= found.last) {
      return damage("its ids do not ascend");
    }
    found.last = id;
    found.digest += digest_of(id);
    if (filter->may_contain(id)) return Done{};
    return Error{Code::kDataLoss,
                 fmt::format("{} is damaged: it misses an id of its file", filter_name.string())};
  }));
  if (found != info_) return damage("its ids are not the ones that the manifest says");
  return Done{};
}

}  // namespace kin::store
