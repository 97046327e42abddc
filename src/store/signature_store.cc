#include "store/signature_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

namespace kin::store {
namespace {

// Pages that a batch of look-ups handles under one lock, which bounds the wait of
// writers.
constexpr std::size_t kPagesPerLock = 4096;

std::uint32_t page_of(RecordId id) {
  return static_cast<std::uint32_t>(row_number(id) / kPageSignatures);
}
std::uint32_t slot_in_page(RecordId id) {
  return static_cast<std::uint32_t>(row_number(id) % kPageSignatures);
}
std::uint64_t bit_of(RecordId id) {
  return std::uint64_t{1} << slot_in_page(id);
}

std::uint64_t signatures_in(const PageEntry& entry) {
  return static_cast<std::uint64_t>(std::popcount(entry.present));
}

// The number of ids at the front of `ids` in the page of the first.
std::size_t same_page(std::span<const RecordId> ids) {
  std::size_t count = 1;
  while (count < ids.size() && page_of(ids[count]) == page_of(ids[0])) ++count;
  return count;
}

Error wrong_size(std::string_view what, std::size_t expected, std::size_t got) {
  return Error{Code::kInvalidArgument,
               fmt::format("{} must be of {} bytes, not {}", what, expected, got)};
}

}  // namespace

Result<std::unique_ptr<TieredSignatureStore>> TieredSignatureStore::open(
    const SignatureStoreOptions& options) {
  if (options.signature_bytes == 0 || options.signature_bytes > kMaxSignatureBytes) {
    return Error{Code::kInvalidArgument, fmt::format("a signature has 1 to {} bytes, not {}",
                                                     kMaxSignatureBytes, options.signature_bytes)};
  }
  SignatureManifest loaded;
  const StorePlace place{options.disk, options.path, options.temporary_parent};
  KIN_TRY(auto cold, ColdPages::open(place, options.signature_bytes, loaded));
  return std::unique_ptr<TieredSignatureStore>(
      new TieredSignatureStore(options, std::move(cold), loaded));
}

TieredSignatureStore::TieredSignatureStore(const SignatureStoreOptions& options,
                                           std::unique_ptr<ColdPages> cold,
                                           const SignatureManifest& loaded)
    : options_(options),
      max_frames_(std::max<std::size_t>(
          1, (options.max_hot_signatures + kPageSignatures - 1) / kPageSignatures)),
      cold_(std::move(cold)) {
  for (const ManifestPage& page : loaded.pages) {
    PageEntry& entry = table_.make(page.page);
    entry = {.present = page.present, .checksum = page.checksum, .slot = page.slot};
    count_ += signatures_in(entry);
  }
}

TieredSignatureStore::~TieredSignatureStore() {
  (void)flush();  // a destructor cannot report; the manifest of the last flush stays whole
}

Status TieredSignatureStore::insert(RecordId id, std::span<const std::uint8_t> signature) {
  return insert_batch(std::span(&id, 1), signature);
}

Status TieredSignatureStore::insert_batch(std::span<const RecordId> ids,
                                          std::span<const std::uint8_t> signatures) {
  const std::size_t width = options_.signature_bytes;
  if (signatures.size() != ids.size() * width) {
    return wrong_size("the signatures", ids.size() * width, signatures.size());
  }
  // Checked before anything is written.
  if (std::find(ids.begin(), ids.end(), kNoRecord) != ids.end()) {
    return Error{Code::kInvalidArgument, "a signature needs the id of a record"};
  }
  const std::unique_lock lock(mutex_);
  KIN_RETURN_IF_ERROR(cold_->check_writable());
  for (std::size_t at = 0; at < ids.size();) {
    const std::size_t count = same_page(ids.subspan(at));
    KIN_RETURN_IF_ERROR(
        insert_into_page(page_of(ids[at]), ids.subspan(at, count), signatures.data() + at * width));
    at += count;
  }
  return Done{};
}

Status TieredSignatureStore::insert_into_page(std::uint32_t page, std::span<const RecordId> ids,
                                              const std::uint8_t* from) {
  PageEntry& entry = table_.make(page);
  KIN_TRY(Frame* const frame, heat(page, entry));
  const std::size_t width = options_.signature_bytes;
  for (const RecordId id : ids) {
    std::memcpy(frame->data.get() + slot_in_page(id) * width, from, width);
    // A replaced signature is not counted again.
    const bool fresh = (entry.present & bit_of(id)) == 0;
    count_ += fresh;
    hot_ += fresh;
    entry.present |= bit_of(id);
    from += width;
  }
  frame->dirty = true;
  changed_ = true;
  frame->stamp = ++clock_;
  return Done{};
}

Result<TieredSignatureStore::Frame*> TieredSignatureStore::heat(std::uint32_t page,
                                                                PageEntry& entry) {
  // Already hot.
  if (entry.frame != kNoFrame) return &frames_[entry.frame];
  KIN_TRY(const std::uint32_t number, free_frame());
  Frame& frame = frames_[number];
  // A cold page is read first: its other signatures would be lost when it is written again.
  if (entry.present != 0) {
    if (auto loaded = load(page, entry, frame); !loaded.ok()) {
      free_frames_.push_back(number);
      return loaded.error();
    }
  } else {
    // Pages go to disk as a whole. Zeros keep old memory out of the file.
    std::memset(frame.data.get(), 0, cold_->page_bytes());
  }
  entry.frame = number;
  frame.page = page;
  frame.dirty = false;
  frame.read = 0;
  hot_ += signatures_in(entry);
  return &frame;
}

// Signatures of a damaged page are lost: they are counted and dropped, so that the page can take
// new ones. A read that failed for another reason may succeed the next time.
Status TieredSignatureStore::load(std::uint32_t page, PageEntry& entry, Frame& frame) {
  PageRead read{.page = page, .slot = entry.slot, .checksum = entry.checksum};
  const auto got =
      cold_->read(std::span(&read, 1), [&](const PageRead&, const std::uint8_t* bytes) {
        if (bytes != nullptr) std::memcpy(frame.data.get(), bytes, cold_->page_bytes());
      });
  // Only damage is final.
  if (got.ok() || got.error().code != Code::kDataLoss) return got;
  const std::uint64_t lost = signatures_in(entry);
  read_errors_.fetch_add(lost, std::memory_order_relaxed);
  count_ -= lost;
  entry.present = 0;
  std::memset(frame.data.get(), 0, cold_->page_bytes());
  return Done{};
}

Result<std::uint32_t> TieredSignatureStore::free_frame() {
  // Evicting an eighth at once makes writes large and rare.
  if (free_frames_.empty() && frames_.size() >= max_frames_) KIN_RETURN_IF_ERROR(evict());
  if (free_frames_.empty()) {
    frames_.emplace_back();
    free_frames_.push_back(static_cast<std::uint32_t>(frames_.size() - 1));
  }
  const std::uint32_t number = free_frames_.back();
  free_frames_.pop_back();
  // Memory of a frame is allocated at first use and kept.
  if (!frames_[number].data) {
    frames_[number].data = std::make_unique_for_overwrite<std::uint8_t[]>(cold_->page_bytes());
  }
  return number;
}

Status TieredSignatureStore::evict() {
  std::vector<std::uint32_t> victims = coldest(std::max<std::size_t>(1, frames_.size() / 8));
  // Frames are dropped only when all of them are written, so an error loses nothing.
  KIN_RETURN_IF_ERROR(write_frames(victims));
  for (const std::uint32_t victim : victims) drop_frame(*table_.find(frames_[victim].page));
  // The next eviction considers reads after this one.
  for (Frame& frame : frames_) frame.read = 0;
  return Done{};
}

std::vector<std::uint32_t> TieredSignatureStore::coldest(std::size_t count) const {
  // Full pages that were not read since the last eviction, full pages that were, and others; within
  // each kind the least recently written come first.
  struct Candidate {
    std::uint32_t rank;
    std::uint64_t stamp;
    std::uint32_t frame;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(frames_.size());
  for (std::uint32_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].page == kNoSlot) continue;
    const bool full = table_.find(frames_[i].page)->present == ~std::uint64_t{0};
    candidates.push_back({!full ? 2U : frames_[i].read, frames_[i].stamp, i});
  }
  count = std::min(count, candidates.size());
  const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(candidates.begin(), last, candidates.end());
  std::vector<std::uint32_t> frames;
  for (auto it = candidates.begin(); it != last; ++it) frames.push_back(it->frame);
  return frames;
}

Status TieredSignatureStore::write_frames(std::span<const std::uint32_t> frames) {
  std::vector<PageWrite> writes;
  for (const std::uint32_t number : frames) {
    const Frame& frame = frames_[number];
    // The page in the file is identical.
    if (!frame.dirty) continue;
    writes.push_back(
        {.page = frame.page, .old_slot = table_.find(frame.page)->slot, .data = frame.data.get()});
  }
  std::ranges::sort(writes, {}, &PageWrite::page);
  auto written = cold_->write(writes);
  for (const PageWrite& write : writes) {
    // Not written because of an error: it stays dirty.
    if (write.slot == kNoSlot) continue;
    PageEntry& entry = *table_.find(write.page);
    entry.slot = write.slot;
    entry.checksum = write.checksum;
    frames_[entry.frame].dirty = false;
  }
  return written;
}

void TieredSignatureStore::drop_frame(PageEntry& entry) {
  hot_ -= signatures_in(entry);
  frames_[entry.frame].page = kNoSlot;
  free_frames_.push_back(entry.frame);
  entry.frame = kNoFrame;
}

const PageEntry* TieredSignatureStore::entry_of(RecordId id) const {
  const PageEntry* entry = table_.find(page_of(id));
  return entry != nullptr && (entry->present & bit_of(id)) != 0 ? entry : nullptr;
}

Result<std::optional<Signature>> TieredSignatureStore::get(RecordId id) const {
  const std::shared_lock lock(mutex_);
  const PageEntry* entry = entry_of(id);
  if (entry == nullptr) return std::optional<Signature>();
  const std::size_t offset = slot_in_page(id) * std::size_t{options_.signature_bytes};
  std::optional<Signature> signature;
  const auto take = [&](const std::uint8_t* page) {
    signature.emplace(page + offset, page + offset + options_.signature_bytes);
  };
  if (entry->frame != kNoFrame) {
    const Frame& frame = frames_[entry->frame];
    // Readers share the lock, so they may set the mark at the same time.
    std::atomic_ref(frame.read).store(1, std::memory_order_relaxed);
    take(frame.data.get());
    return signature;
  }
  PageRead read{.page = page_of(id), .slot = entry->slot, .checksum = entry->checksum};
  const auto got = cold_->read(std::span(&read, 1), [&](const PageRead&, const std::uint8_t* page) {
    if (page != nullptr) take(page);
  });
  if (got.ok()) return signature;
  read_errors_.fetch_add(1, std::memory_order_relaxed);
  return got.error();
}

Status TieredSignatureStore::get_batch(std::span<const RecordId> sorted_ids,
                                       std::span<std::uint8_t> signatures,
                                       std::span<std::uint8_t> found) const {
  const std::size_t width = options_.signature_bytes;
  if (signatures.size() != sorted_ids.size() * width) {
    return wrong_size("the signatures", sorted_ids.size() * width, signatures.size());
  }
  if (found.size() != sorted_ids.size())
    return wrong_size("the flags", sorted_ids.size(), found.size());
  if (std::adjacent_find(sorted_ids.begin(), sorted_ids.end(), std::greater_equal<>()) !=
      sorted_ids.end()) {
    return Error{Code::kInvalidArgument, "the ids of a batch must ascend"};
  }
  std::fill(found.begin(), found.end(), std::uint8_t{0});
  std::vector<PageRead> reads;
  for (std::size_t at = 0; at < sorted_ids.size();) {
    const std::size_t first = at;
    // Ids of one page stay together: the page is read once for all of them.
    for (std::size_t pages = 0; at < sorted_ids.size() && pages < kPagesPerLock; ++pages) {
      at += same_page(sorted_ids.subspan(at));
    }
    reads.clear();
    collect(sorted_ids.first(at), first, reads, signatures, found);
  }
  return Done{};
}

void TieredSignatureStore::collect(std::span<const RecordId> ids, std::size_t first,
                                   std::vector<PageRead>& reads, std::span<std::uint8_t> signatures,
                                   std::span<std::uint8_t> found) const {
  const std::size_t width = options_.signature_bytes;
  const auto copy = [&](std::size_t at, const PageEntry& entry, const std::uint8_t* page) {
    const std::size_t count = same_page(ids.subspan(at));
    copy_page(page, entry, ids.subspan(at, count), signatures.subspan(at * width, count * width),
              found.subspan(at, count));
  };
  const std::shared_lock lock(mutex_);
  for (std::size_t at = first; at < ids.size(); at += same_page(ids.subspan(at))) {
    const PageEntry* entry = table_.find(page_of(ids[at]));
    if (entry == nullptr || entry->present == 0) continue;
    if (entry->frame == kNoFrame) {
      // `tag` is relative to the first id, as it has 32 bits.
      reads.push_back(
          {page_of(ids[at]), entry->slot, entry->checksum, static_cast<std::uint32_t>(at - first)});
      continue;
    }
    std::atomic_ref(frames_[entry->frame].read).store(1, std::memory_order_relaxed);
    copy(at, *entry, frames_[entry->frame].data.get());
  }
  // The failure itself was counted, signature by signature, by copy_page().
  (void)cold_->read(reads, [&](const PageRead& read, const std::uint8_t* page) {
    copy(first + read.tag, *table_.find(read.page), page);
  });
}

// `page` is null if it could not be read.
void TieredSignatureStore::copy_page(const std::uint8_t* page, const PageEntry& entry,
                                     std::span<const RecordId> ids,
                                     std::span<std::uint8_t> signatures,
                                     std::span<std::uint8_t> found) const {
  const std::size_t width = options_.signature_bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((entry.present & bit_of(ids[i])) == 0) continue;
    if (page == nullptr) {
      read_errors_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    std::memcpy(signatures.data() + i * width, page + slot_in_page(ids[i]) * width, width);
    found[i] = 1;
  }
}

std::vector<RecordId> TieredSignatureStore::ids_from(RecordId first, std::size_t most) const {
  const std::shared_lock lock(mutex_);
  std::vector<RecordId> ids;
  for (std::uint32_t page = page_of(first); page < table_.end() && ids.size() < most; ++page) {
    const PageEntry* entry = table_.find(page);
    std::uint64_t present = entry == nullptr ? 0 : entry->present;
    // Clears the bits of ids below `first`.
    if (page == page_of(first)) present &= ~(bit_of(first) - 1);
    for (; present != 0 && ids.size() < most; present &= present - 1) {
      ids.push_back(
          RecordId(page * kPageSignatures + static_cast<std::uint32_t>(std::countr_zero(present))));
    }
  }
  return ids;
}

bool TieredSignatureStore::contains(RecordId id) const {
  const std::shared_lock lock(mutex_);
  return entry_of(id) != nullptr;
}

bool TieredSignatureStore::remove(RecordId id) {
  const std::unique_lock lock(mutex_);
  if (entry_of(id) == nullptr) return false;
  PageEntry* const entry = table_.find(page_of(id));
  changed_ = true;
  entry->present &= ~bit_of(id);
  --count_;
  if (entry->frame != kNoFrame) --hot_;
  // The page stays while another signature is in it. The bytes of the removed one stay too, but are
  // never read.
  if (entry->present != 0) return true;
  if (entry->frame != kNoFrame) drop_frame(*entry);
  cold_->release(entry->slot);
  *entry = PageEntry{};
  return true;
}

std::uint64_t TieredSignatureStore::len() const {
  const std::shared_lock lock(mutex_);
  return count_;
}

Status TieredSignatureStore::clear() {
  const std::unique_lock lock(mutex_);
  KIN_RETURN_IF_ERROR(cold_->check_writable());
  changed_ = true;
  table_.clear();
  frames_.clear();
  free_frames_.clear();
  count_ = 0;
  hot_ = 0;
  return cold_->clear();
}

Status TieredSignatureStore::flush() {
  if (!options_.path) return Done{};
  const std::unique_lock lock(mutex_);
  if (!changed_) return Done{};
  KIN_RETURN_IF_ERROR(cold_->check_writable());
  // Hot pages stay hot: flushing writes them without evicting.
  std::vector<std::uint32_t> hot;
  for (std::uint32_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].page != kNoSlot) hot.push_back(i);
  }
  KIN_RETURN_IF_ERROR(write_frames(hot));
  std::vector<ManifestPage> pages;
  table_.for_each([&](std::size_t page, const PageEntry& entry) {
    if (entry.present == 0) return;
    pages.push_back({.page = static_cast<std::uint32_t>(page),
                     .slot = entry.slot,
                     .present = entry.present,
                     .checksum = entry.checksum});
  });
  KIN_RETURN_IF_ERROR(cold_->commit(std::move(pages)));
  changed_ = false;
  return Done{};
}

SignatureStoreStats TieredSignatureStore::stats() const {
  const std::shared_lock lock(mutex_);
  const auto allocated = static_cast<std::uint64_t>(std::count_if(
      frames_.begin(), frames_.end(), [](const Frame& frame) { return frame.data != nullptr; }));
  return {.hot = hot_,
          .cold = count_ - hot_,
          .cold_reads = cold_->reads(),
          .cold_bytes = cold_->bytes_read(),
          .cold_bytes_written = cold_->bytes_written(),
          .cold_read_errors = read_errors_.load(std::memory_order_relaxed),
          .memory_bytes = allocated * cold_->page_bytes() + frames_.capacity() * sizeof(Frame) +
                          table_.bytes() + cold_->memory_bytes(),
          .file_bytes = cold_->file_bytes()};
}

}  // namespace kin::store
