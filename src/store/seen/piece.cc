#include "store/seen/piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "base/bytes.h"
#include "base/check.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

// Pages; then the index: per page where its first id lies (u32, see Steps), and a checksum u64;
// then the footer: magic u64, version u32, kind u32, number, ids, pages, digest, first high and
// low, last high and low (u64 each), checksum u64.
constexpr std::uint64_t kMagic = 0x314e4545534e494bULL;  // "KINSEEN1"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kFooterBytes = 16 + 8 * 8 + 8;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
// Syncing while writing keeps the log's own syncs from waiting for a whole run at once.
constexpr std::uint64_t kSyncEvery = std::uint64_t{16} << 20;

// The position of an id within a piece in 32 bits: rough, but never out of order, and a quarter of
// the memory.
class Steps {
 public:
  Steps(SeenId first, SeenId last)
      : first_(first.high), shift_(std::max(0, width(last.high - first.high) - 32)) {}
  // `high` must not be below the first.
  std::uint32_t of(std::uint64_t high) const {
    const std::uint64_t step = (high - first_) >> shift_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(step, 0xffffffffU));
  }

 private:
  static int width(std::uint64_t range) { return static_cast<int>(std::bit_width(range)); }
  std::uint64_t first_;
  int shift_;
};

std::string footer(const PieceInfo& info, IdKind kind) {
  std::string bytes;
  append_le(bytes, kMagic);
  append_le(bytes, kVersion);
  append_le(bytes, static_cast<std::uint32_t>(kind));
  for (const std::uint64_t* number : numbers_of(info)) append_le(bytes, *number);
  append_le(bytes, checksum(bytes));
  return bytes;
}

std::uint64_t index_sum(std::string_view bytes, std::uint64_t number) {
  return hash64(bytes, mix64(number));
}

}  // namespace

std::uint64_t digest_of(SeenId id) {
  // A sum of hashes does not depend on the order, so a merge can check its output against its
  // inputs.
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
  // Filters are larger than the cache, so the block of a later id is fetched while this one is
  // packed.
  constexpr std::size_t kAhead = 16;
  if (ids.empty()) return Done{};
  if (info_.ids == 0) info_.first = ids.front();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + kAhead < ids.size()) filter_->prefetch(in_filter(ids[i + kAhead], placement_.kind));
    // The page is full.
    if (!page_.add(ids[i])) {
      KIN_RETURN_IF_ERROR(finish_page());
      page_.add(ids[i]);
    }
    info_.digest += digest_of(ids[i]);
    filter_->add(in_filter(ids[i], placement_.kind));
  }
  info_.last = ids.back();
  info_.ids += ids.size();
  return Done{};
}

Status PieceWriter::finish_page() {
  firsts_.push_back(page_.first().high);
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
  // The index needs the last id, so it is written at the end.
  const Steps steps(info_.first, info_.last);
  const std::size_t index = buffer_.size();
  for (const std::uint64_t first : firsts_) append_le(buffer_, steps.of(first));
  append_le(buffer_, index_sum(std::string_view(buffer_).substr(index), info_.number));
  buffer_ += footer(info_, placement_.kind);
  KIN_RETURN_IF_ERROR(file_->append(buffer_));
  KIN_RETURN_IF_ERROR(file_->sync());
  // The filter comes last: its identity is made of the digest of all ids.
  KIN_RETURN_IF_ERROR(write_filter(*placement_.disk, filter_path(placement_.folder, info_.number),
                                   identity_of(info_), *filter_));
  return Finished{info_, std::move(filter_)};
}

Piece::Piece(SeenPlacement placement, const PieceInfo& info, std::unique_ptr<DiskFile> file)
    : placement_(std::move(placement)), info_(info), file_(std::move(file)) {}

Result<std::shared_ptr<const Piece>> Piece::open(const SeenPlacement& placement,
                                                 const PieceInfo& info) {
  const fs::path path = piece_path(placement.folder, info.number);
  auto file = placement.disk->open_to_read(path);
  // The manifest names it, so a missing file is a loss.
  if (!file && file.error().code == Code::kNotFound) {
    return Error{Code::kDataLoss, fmt::format("{} is missing, and its ids with it", path.string())};
  }
  if (!file) return file.error();
  std::shared_ptr<Piece> piece(new Piece(placement, info, std::move(*file)));
  KIN_RETURN_IF_ERROR(piece->load_index());
  return std::shared_ptr<const Piece>(std::move(piece));
}

Status Piece::load_index() {
  const std::size_t index_bytes = info_.pages * sizeof(std::uint32_t);
  KIN_TRY(file_bytes_, file_->size());
  // Before anything is read: a wrong size would put the end elsewhere.
  if (file_bytes_ != info_.pages * kSeenPageBytes + index_bytes + 8 + kFooterBytes) {
    return damage("its size differs from the manifest");
  }
  std::string end(index_bytes + 8 + kFooterBytes, '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(info_.pages * kSeenPageBytes, end.data(), end.size()));
  const std::string_view view(end);
  if (view.substr(index_bytes + 8) != footer(info_, placement_.kind)) {
    return damage("its end differs from the manifest");
  }
  if (load_le<std::uint64_t>(end.data() + index_bytes) !=
      index_sum(view.substr(0, index_bytes), info_.number)) {
    return damage("the checksum of its index is wrong");
  }
  index_.resize(info_.pages);
  std::memcpy(index_.data(), end.data(), index_bytes);
  return Done{};
}

Error Piece::damage(std::string_view what) const {
  return Error{
      Code::kDataLoss,
      fmt::format("{} is damaged: {}", piece_path(placement_.folder, info_.number).string(), what)};
}

// Ids are spread evenly, so the position of a page in the index can be estimated; a binary search
// would touch a cold cache line at every step.
std::uint64_t Piece::pages_below(std::uint64_t step) const {
  const std::uint64_t last_step = std::max<std::uint32_t>(1, index_.back());
  const std::uint64_t guess = std::min(info_.pages - 1, step * (info_.pages - 1) / last_step);
  std::uint64_t width = 32;
  std::uint64_t begin = guess;
  std::uint64_t end = guess;
  // Widens the range until it encloses the place, doubling each time.
  while (begin > 0 && index_[begin] >= step) {
    begin -= std::min(begin, width);
    width *= 2;
  }
  for (width = 32; end < info_.pages && index_[end] < step; width *= 2) {
    end += std::min(info_.pages - end, width);
  }
  return static_cast<std::uint64_t>(
      std::lower_bound(index_.begin() + static_cast<std::ptrdiff_t>(begin),
                       index_.begin() + static_cast<std::ptrdiff_t>(end), step) -
      index_.begin());
}

std::uint64_t Piece::page_of(SeenId id) const {
  if (id.high < info_.first.high) return 0;
  const std::uint64_t step = Steps(info_.first, info_.last).of(id.high);
  return std::max<std::uint64_t>(1, pages_below(step + 1)) - 1;
}

std::uint64_t Piece::page_before(SeenId id) const {
  if (id.high < info_.first.high) return 0;
  const std::uint64_t step = Steps(info_.first, info_.last).of(id.high);
  return std::max<std::uint64_t>(1, pages_below(step)) - 1;
}

Result<SeenPage> Piece::read_page(std::uint64_t page, SeenPageBytes& into) const {
  KIN_RETURN_IF_ERROR(file_->read_at(page * kSeenPageBytes, into.bytes.data(), kSeenPageBytes));
  auto view = SeenPage::read(into.bytes.data(), {info_.number, page}, placement_.kind);
  if (!view) return damage(fmt::format("page {}: {}", page, view.error().message));
  return view;
}

Result<bool> Piece::contains(SeenId id, SeenPageBytes& scratch) const {
  // Almost always one round.
  for (std::uint64_t page = page_of(id);; --page) {
    KIN_TRY(const SeenPage view, read_page(page, scratch));
    // Pages that begin at the same step may begin above the id.
    if (page == 0 || view.at(0) <= id) return view.contains(id);
  }
}

Status Piece::append_numbers(SeenId from, SeenPageBytes& scratch,
                             std::vector<std::uint32_t>& numbers) const {
  if (info_.last < from || info_.first.high > from.high) return Done{};
  const std::uint64_t step =
      from.high < info_.first.high ? 0 : Steps(info_.first, info_.last).of(from.high);
  // Pairs of a key may go on in the next page; the index tells, unless it is too rough.
  for (std::uint64_t page = page_before(from); page < info_.pages && index_[page] <= step; ++page) {
    KIN_TRY(const SeenPage view, read_page(page, scratch));
    for (std::size_t i = view.lower_bound(from); i < view.size(); ++i) {
      const SeenId pair = view.at(i);
      if (pair.high != from.high) return Done{};
      numbers.push_back(static_cast<std::uint32_t>(pair.low));
    }
  }
  return Done{};
}

Status Piece::read_ids(std::uint64_t page, std::uint64_t count, std::vector<SeenId>& out) const {
  if (page >= info_.pages) return Done{};
  count = std::min(count, info_.pages - page);
  // Slack behind the last page: ids are read as whole words.
  std::string bytes(count * kSeenPageBytes + kSeenPageSlack, '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(page * kSeenPageBytes, bytes.data(), count * kSeenPageBytes));
  for (std::uint64_t i = 0; i < count; ++i, ++page) {
    const auto view =
        SeenPage::read(bytes.data() + i * kSeenPageBytes, {info_.number, page}, placement_.kind);
    if (!view) return damage(fmt::format("page {}: {}", page, view.error().message));
    view->append_to(out);
  }
  return Done{};
}

Status Piece::for_each(const std::function<Status(SeenId)>& visit) const {
  constexpr std::uint64_t kPagesAtOnce = 128;
  std::vector<SeenId> ids;
  for (std::uint64_t page = 0; page < info_.pages; page += kPagesAtOnce) {
    ids.clear();
    KIN_RETURN_IF_ERROR(read_ids(page, kPagesAtOnce, ids));
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
    filter->add(in_filter(id, placement_.kind));
    return Done{};
  }));
  return std::shared_ptr<const BlockFilter>(std::move(filter));
}

Status Piece::verify(const FilterFile* filter_file) const {
  const fs::path filter_name = filter_path(placement_.folder, info_.number);
  if (filter_file == nullptr) {
    return Error{Code::kDataLoss,
                 fmt::format("{} is damaged or missing (the next writer rebuilds it)",
                             filter_name.string())};
  }
  KIN_TRY(const auto filter, filter_file->load());
  PieceInfo found{.number = info_.number, .pages = info_.pages};
  KIN_RETURN_IF_ERROR(for_each([&](SeenId id) -> Status {
    // Everything in the manifest's entry is computed again.
    if (found.ids++ == 0) {
      found.first = id;
    } else if (id <= found.last) {
      return damage("its ids do not ascend");
    }
    found.last = id;
    found.digest += digest_of(id);
    if (filter->may_contain(in_filter(id, placement_.kind))) return Done{};
    return Error{Code::kDataLoss,
                 fmt::format("{} is damaged: it misses an id of its file", filter_name.string())};
  }));
  if (found != info_) return damage("its ids differ from the manifest");
  return Done{};
}

}  // namespace kin::store
