#include "store/signatures/cold_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "store/signatures/page_table.h"

namespace kin::store {
namespace {

// Neighbouring pages are read and written up to this many bytes at a time.
constexpr std::size_t kRunBytes = std::size_t{1} << 20;
// Up to this gap, reading unwanted pages is cheaper than a second call.
constexpr std::uint32_t kGapPages = 3;

std::string_view view(const std::uint8_t* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

}  // namespace

ColdPages::ColdPages(std::unique_ptr<DiskFile> file, std::uint32_t signature_bytes,
                     const StorePlace& place)
    : file_(std::move(file)),
      place_(place),
      signature_bytes_(signature_bytes),
      page_bytes_(std::size_t{signature_bytes} * kPageSignatures) {}

Result<std::unique_ptr<ColdPages>> ColdPages::open(const StorePlace& place,
                                                   std::uint32_t signature_bytes,
                                                   SignatureManifest& loaded) {
  KIN_TRY(auto file, open_store_file(place, kPagesFileName));
  std::unique_ptr<ColdPages> pages(new ColdPages(std::move(file), signature_bytes, place));
  auto started = pages->start(loaded);
  if (!started.ok() && place.folder) return with_context(place.folder->string(), started.error());
  if (!started.ok()) return started.error();
  return pages;
}

Status ColdPages::start(SignatureManifest& loaded) {
  loaded = SignatureManifest{.signature_bytes = signature_bytes_, .slots = 0, .pages = {}};
  KIN_TRY(const std::uint64_t size, file_->size());
  std::string header(std::min(size, kPagesHeaderBytes), '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(0, header.data(), header.size()));
  bool has_manifest = false;
  if (place_.folder) {
    KIN_TRY(has_manifest, place_.disk->exists(*place_.folder / kManifestFileName));
  }
  if (!has_manifest) return start_empty(header, size);
  if (size == 0)
    return Error{Code::kDataLoss, fmt::format("{} is missing or empty", kPagesFileName)};
  KIN_TRY(const std::uint32_t kept, decode_pages_header(header));
  if (kept != signature_bytes_) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("the store holds signatures of {} bytes, not {} (use the options it was "
                    "made with, or another path)",
                    kept, signature_bytes_)};
  }
  KIN_TRY(const std::string manifest, read_whole(*place_.disk, *place_.folder / kManifestFileName));
  KIN_TRY(loaded, decode_manifest(manifest));
  if (loaded.signature_bytes != signature_bytes_) {
    return Error{Code::kDataLoss, "the manifest and the page file are of different stores"};
  }
  // A process that died may not have synced the name of the manifest that we see; an older one may
  // name slots that we consider free.
  KIN_RETURN_IF_ERROR(place_.disk->sync_folder(*place_.folder));
  slots_ = loaded.slots;
  set_durable(loaded.pages);
  return Done{};
}

// The first manifest is written right after the header, so a file without one holds at most a part
// of a header, unless its manifest was lost or the file is not ours.
Status ColdPages::start_empty(std::string_view contents, std::uint64_t size) {
  if (!is_unfinished_header(contents, kPagesMagic))
    KIN_RETURN_IF_ERROR(decode_pages_header(contents));
  if (size > kPagesHeaderBytes)
    return Error{Code::kDataLoss, fmt::format("{} is missing", kManifestFileName)};
  KIN_RETURN_IF_ERROR(file_->write_at(0, encode_pages_header(signature_bytes_)));
  // A manifest on the device without its page file would be taken for a loss.
  if (place_.folder) KIN_RETURN_IF_ERROR(place_.disk->sync_folder(*place_.folder));
  return commit({});
}

std::size_t ColdPages::memory_bytes() const {
  return write_buffer_.capacity() + free_.capacity() * sizeof(std::uint32_t) +
         durable_.capacity() / 8;
}

std::size_t ColdPages::run_pages() const {
  return std::max<std::size_t>(1, kRunBytes / page_bytes_);
}

std::uint32_t ColdPages::slot_for(std::uint32_t old_slot) {
  // A page that the device's manifest names is never overwritten: the new version goes to another
  // slot, and the old one is free after the next commit.
  if (old_slot != kNoSlot && !durable(old_slot)) return old_slot;
  if (free_.empty()) return slots_++;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void ColdPages::release(std::uint32_t slot) {
  // A durable slot is freed by the next commit, when the manifest no longer names it.
  if (slot == kNoSlot || durable(slot)) return;
  free_.push_back(slot);
  free_sorted_ = false;
}

Status ColdPages::write(std::span<PageWrite> pages) {
  // The lowest slots first, so that the file can shrink and new pages become neighbours.
  if (!free_sorted_) std::sort(free_.begin(), free_.end(), std::greater<>());
  free_sorted_ = true;
  for (PageWrite& page : pages) page.slot = slot_for(page.old_slot);
  std::ranges::sort(pages, {}, &PageWrite::slot);
  for (std::size_t begin = 0; begin < pages.size();) {
    std::size_t end = begin + 1;
    while (end < pages.size() && end - begin < run_pages() &&
           pages[end].slot == pages[end - 1].slot + 1) {
      ++end;
    }
    if (auto written = write_run(pages.subspan(begin, end - begin)); !written.ok()) {
      // Pages of earlier runs are written and keep their slots.
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
  // Copied together, so that a run is one call.
  write_buffer_.resize(std::max(write_buffer_.size(), run_pages() * page_bytes_));
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::memcpy(write_buffer_.data() + i * page_bytes_, run[i].data, page_bytes_);
    run[i].checksum = page_checksum(run[i].page, view(run[i].data, page_bytes_));
  }
  const std::string_view bytes(write_buffer_.data(), run.size() * page_bytes_);
  // Counted even if the write fails: a part may have been written.
  bytes_written_ += bytes.size();
  return file_->write_at(offset_of(run.front().slot), bytes);
}

Status ColdPages::read(
    std::span<PageRead> pages,
    const std::function<void(const PageRead&, const std::uint8_t*)>& visit) const {
  if (pages.empty()) return Done{};
  std::ranges::sort(pages, {}, &PageRead::slot);
  // The buffer is for the longest run that can occur, not for the longest allowed.
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
    // Alone, a page is at the start of the buffer.
    const std::size_t at = whole.ok() ? (page.slot - first) * page_bytes_ : 0;
    // One bad page must not make its neighbours fail, so they are read one by one.
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

Status ColdPages::check_writable() const {
  if (commit_failure_) return writes_refused(*commit_failure_);
  return Done{};
}

Status ColdPages::commit(std::vector<ManifestPage> pages) {
  if (!place_.folder) return Done{};
  KIN_RETURN_IF_ERROR(check_writable());
  const SignatureManifest manifest{
      .signature_bytes = signature_bytes_, .slots = slots_, .pages = std::move(pages)};
  // From now on writes are refused, because the manifest on the device is unknown.
  if (auto durable = make_durable(manifest); !durable.ok()) {
    commit_failure_ = durable.error();
    return durable;
  }
  set_durable(manifest.pages);
  // Cuts off unused slots at the end. After the manifest, because an older one named them.
  return file_->truncate(offset_of(slots_));
}

// A failed sync drops pages that no later sync writes, and after a failed replacement the manifest
// on the device is unknown, so neither can be tried again.
Status ColdPages::make_durable(const SignatureManifest& manifest) {
  KIN_RETURN_IF_ERROR(file_->sync());
  return replace_whole(*place_.disk, *place_.folder / kManifestFileName, encode_manifest(manifest));
}

void ColdPages::set_durable(const std::vector<ManifestPage>& pages) {
  durable_.assign(slots_, false);
  for (const ManifestPage& page : pages) durable_[page.slot] = true;
  free_all_but_durable();
}

// Free slots at the end are removed, so that the file can be truncated there.
void ColdPages::free_all_but_durable() {
  while (slots_ > 0 && !durable(slots_ - 1)) --slots_;
  durable_.resize(slots_);
  free_.clear();
  for (std::uint32_t slot = slots_; slot-- > 0;) {
    if (!durable(slot)) free_.push_back(slot);
  }
}

// Slots that the manifest on the device names keep their pages until the next commit().
Status ColdPages::clear() {
  free_all_but_durable();
  return file_->truncate(offset_of(slots_));
}

}  // namespace kin::store
