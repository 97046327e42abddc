#include "store/signatures/cold_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "store/signatures/page_table.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kRunBytes = std::size_t{1} << 20;
// Reading over a gap of unwanted pages is cheaper than a second call up to about here.
constexpr std::uint32_t kGapPages = 3;

std::string_view view(const std::uint8_t* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

}  // namespace

ColdPages::ColdPages(std::unique_ptr<BlockFile> file, std::uint32_t signature_bytes,
                     std::optional<fs::path> folder)
    : file_(std::move(file)),
      folder_(std::move(folder)),
      signature_bytes_(signature_bytes),
      page_bytes_(std::size_t{signature_bytes} * kPageSignatures) {}

Result<std::unique_ptr<ColdPages>> ColdPages::open(const Placement& placement,
                                                   std::uint32_t signature_bytes,
                                                   SignatureManifest& loaded) {
  KIN_TRY(auto file, open_placed(placement, kPagesFileName));
  std::unique_ptr<ColdPages> pages(new ColdPages(std::move(file), signature_bytes, placement.path));
  auto started = pages->start(loaded);
  if (!started.ok() && placement.path)
    return with_context(placement.path->string(), started.error());
  if (!started.ok()) return started.error();
  return pages;
}

Status ColdPages::start(SignatureManifest& loaded) {
  loaded = SignatureManifest{.signature_bytes = signature_bytes_, .slots = 0, .pages = {}};
  KIN_TRY(const std::uint64_t size, file_->size());
  bool has_manifest = false;
  if (folder_) {
    KIN_TRY(has_manifest, file_exists(*folder_ / kManifestFileName));
  }
  if (size == 0 && has_manifest) {
    return Error{Code::kDataLoss, fmt::format("{} is missing or empty", kPagesFileName)};
  }
  if (size == 0) {
    KIN_RETURN_IF_ERROR(file_->write_at(0, encode_pages_header(signature_bytes_)));
    return commit({});
  }
  std::string header(std::min(size, kPagesHeaderBytes), '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(0, header.data(), header.size()));
  KIN_TRY(const std::uint32_t kept, decode_pages_header(header));
  if (kept != signature_bytes_) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("the store holds signatures of {} bytes, not {} (use the options it was "
                    "made with, or another path)",
                    kept, signature_bytes_)};
  }
  // Killed between making the file and its first manifest: nothing was ever kept.
  if (!has_manifest) return commit({});
  KIN_TRY(const std::string manifest, read_file(*folder_ / kManifestFileName));
  KIN_TRY(loaded, decode_manifest(manifest));
  if (loaded.signature_bytes != signature_bytes_) {
    return Error{Code::kDataLoss, "the manifest and the page file are of different stores"};
  }
  slots_ = loaded.slots;
  rebuild_free(loaded.pages);
  return Done{};
}

std::size_t ColdPages::memory_bytes() const {
  return write_buffer_.capacity() + free_.capacity() * sizeof(std::uint32_t) +
         durable_.capacity() / 8;
}

std::size_t ColdPages::run_pages() const {
  return std::max<std::size_t>(1, kRunBytes / page_bytes_);
}

std::uint32_t ColdPages::slot_for(std::uint32_t old_slot) {
  if (old_slot != kNoSlot && !durable(old_slot)) return old_slot;
  if (free_.empty()) return slots_++;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void ColdPages::release(std::uint32_t slot) {
  if (slot == kNoSlot || durable(slot)) return;
  free_.push_back(slot);
  free_sorted_ = false;
}

Status ColdPages::write(std::span<PageWrite> pages) {
  if (!free_sorted_) std::sort(free_.begin(), free_.end(), std::greater<>());
  free_sorted_ = true;
  for (PageWrite& page : pages) page.slot = slot_for(page.old_slot);
  std::sort(pages.begin(), pages.end(),
            [](const PageWrite& a, const PageWrite& b) { return a.slot < b.slot; });
  for (std::size_t begin = 0; begin < pages.size();) {
    std::size_t end = begin + 1;
    while (end < pages.size() && end - begin < run_pages() &&
           pages[end].slot == pages[end - 1].slot + 1) {
      ++end;
    }
    if (auto written = write_run(pages.subspan(begin, end - begin)); !written.ok()) {
      for (PageWrite& page : pages.subspan(begin)) {
        if (page.slot != page.old_slot) release(page.slot);
        page.slot = kNoSlot;
      }
      return written;
    }
    begin = end;
  }
  return Done{};
}

Status ColdPages::write_run(std::span<PageWrite> run) {
  write_buffer_.resize(std::max(write_buffer_.size(), run_pages() * page_bytes_));
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::memcpy(write_buffer_.data() + i * page_bytes_, run[i].data, page_bytes_);
    run[i].checksum = page_checksum(run[i].page, view(run[i].data, page_bytes_));
  }
  const std::string_view bytes(write_buffer_.data(), run.size() * page_bytes_);
  bytes_written_ += bytes.size();
  return file_->write_at(offset_of(run.front().slot), bytes);
}

Status ColdPages::read(
    std::span<PageRead> pages,
    const std::function<void(const PageRead&, const std::uint8_t*)>& visit) const {
  if (pages.empty()) return Done{};
  std::sort(pages.begin(), pages.end(),
            [](const PageRead& a, const PageRead& b) { return a.slot < b.slot; });
  const std::size_t span = pages.back().slot - pages.front().slot + 1;
  const auto buffer =
      std::make_unique_for_overwrite<std::uint8_t[]>(std::min(span, run_pages()) * page_bytes_);
  Status first_failure = Done{};
  for (std::size_t begin = 0; begin < pages.size();) {
    std::size_t end = begin + 1;
    while (end < pages.size() && pages[end].slot - pages[begin].slot < run_pages() &&
           pages[end].slot - pages[end - 1].slot <= kGapPages + 1) {
      ++end;
    }
    auto got = read_run(pages.subspan(begin, end - begin), buffer.get(), visit);
    if (!got.ok() && first_failure.ok()) first_failure = std::move(got);
    begin = end;
  }
  return first_failure;
}

Status ColdPages::read_run(
    std::span<const PageRead> run, std::uint8_t* buffer,
    const std::function<void(const PageRead&, const std::uint8_t*)>& visit) const {
  const std::uint32_t first = run.front().slot;
  const auto whole = read_slots(first, run.back().slot - first + 1, buffer);
  Status failure = Done{};
  for (const PageRead& page : run) {
    const std::size_t at = whole.ok() ? (page.slot - first) * page_bytes_ : 0;
    // One bad page must not cost its neighbours, so they are tried one by one.
    Status got = whole.ok() || run.size() == 1 ? whole : read_slots(page.slot, 1, buffer);
    if (got.ok() && page_checksum(page.page, view(buffer + at, page_bytes_)) != page.checksum) {
      got = Error{Code::kDataLoss,
                  fmt::format("page {} of the signature store fails its checksum", page.page)};
    }
    visit(page, got.ok() ? buffer + at : nullptr);
    if (!got.ok()) failure = std::move(got);
  }
  return failure;
}

Status ColdPages::read_slots(std::uint32_t first, std::uint32_t count, std::uint8_t* to) const {
  reads_.fetch_add(1, std::memory_order_relaxed);
  bytes_read_.fetch_add(count * page_bytes_, std::memory_order_relaxed);
  return file_->read_at(offset_of(first), reinterpret_cast<char*>(to), count * page_bytes_);
}

Status ColdPages::commit(std::vector<ManifestPage> pages) {
  if (!folder_) return Done{};
  KIN_RETURN_IF_ERROR(file_->sync());
  SignatureManifest manifest{
      .signature_bytes = signature_bytes_, .slots = slots_, .pages = std::move(pages)};
  KIN_RETURN_IF_ERROR(
      write_file_atomically(*folder_ / kManifestFileName, encode_manifest(manifest)));
  rebuild_free(manifest.pages);
  return file_->truncate(offset_of(slots_));
}

void ColdPages::rebuild_free(const std::vector<ManifestPage>& pages) {
  durable_.assign(slots_, false);
  for (const ManifestPage& page : pages) durable_[page.slot] = true;
  while (slots_ > 0 && !durable_[slots_ - 1]) --slots_;
  durable_.resize(slots_);
  free_.clear();
  for (std::uint32_t slot = slots_; slot-- > 0;) {
    if (!durable_[slot]) free_.push_back(slot);
  }
}

Status ColdPages::clear() {
  free_.clear();
  std::uint32_t kept = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) kept = durable(slot) ? slot + 1 : kept;
  slots_ = kept;
  for (std::uint32_t slot = slots_; slot-- > 0;) {
    if (!durable(slot)) free_.push_back(slot);
  }
  return file_->truncate(offset_of(slots_));
}

}  // namespace kin::store
