#include "cloud/s3/object_contents.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::cloud {

// Takes the slot of the oldest block that is not being read, if the number of blocks is at its
// limit. If all blocks are being read, adds one.
Result<std::uint64_t> CopySpace::take_slot() {
  if (!file_) {
    KIN_TRY(File file, File::create_temporary(folder_));
    file_.emplace(std::move(file));
  }
  for (std::size_t tries = kept_.size(); tries > 0 && kept_.size() >= most_blocks_; --tries) {
    const Place place = kept_.front();
    kept_.pop_front();
    ObjectContents::Block& oldest = place.object->blocks_[place.block];
    if (oldest.readers > 0) {
      kept_.push_back(place);
      continue;
    }
    oldest.state = ObjectContents::State::kAbsent;
    free_slots_.push_back(oldest.slot);
  }
  if (free_slots_.empty()) return slots_++;
  const std::uint64_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

ObjectContents::ObjectContents(S3Client& client, ObjectInfo object, CopySpace& space)
    : client_(client),
      object_(std::move(object)),
      space_(space),
      blocks_((object_.size + CopySpace::kBlock - 1) / CopySpace::kBlock) {}

std::uint64_t ObjectContents::block_bytes(std::uint64_t block) const {
  return std::min(CopySpace::kBlock, object_.size - block * CopySpace::kBlock);
}

Status ObjectContents::read_at(std::uint64_t offset, char* to, std::size_t count) {
  if (offset > object_.size || count > object_.size - offset) {
    return Error{Code::kDataLoss, fmt::format("{} is shorter than it should be: it ends at byte {}",
                                              object_.key, object_.size)};
  }
  // Part by part, so that a long read does not hold more blocks than there is room for.
  while (count > 0) {
    const std::uint64_t first = offset / CopySpace::kBlock;
    const std::uint64_t end =
        std::min(offset + count, (first + CopySpace::kWindow) * CopySpace::kBlock);
    const std::uint64_t last = (end - 1) / CopySpace::kBlock;
    KIN_RETURN_IF_ERROR(hold(first, last));
    Status read = Done{};
    for (std::uint64_t block = first; block <= last && read.ok(); ++block) {
      const std::uint64_t begin = offset - block * CopySpace::kBlock;
      const std::size_t part = std::min(end - offset, CopySpace::kBlock - begin);
      read = read_block(block, begin, to, part);
      to += part;
      offset += part;
      count -= part;
    }
    let_go(first, last);
    KIN_RETURN_IF_ERROR(read);
  }
  return Done{};
}

// A block that is held keeps its slot.
Status ObjectContents::read_block(std::uint64_t block, std::uint64_t begin, char* to,
                                  std::size_t count) {
  return space_.file_->read_at(blocks_[block].slot * CopySpace::kBlock + begin, to, count);
}

std::uint64_t ObjectContents::window(std::uint64_t block, std::uint64_t last) const {
  // If a file is read from front to back, the next blocks are fetched too.
  const bool in_order = block == 0 || blocks_[block - 1].state != State::kAbsent;
  const std::uint64_t end =
      std::min<std::uint64_t>(in_order ? block + CopySpace::kWindow : last + 1, blocks_.size());
  std::uint64_t count = 1;
  while (block + count < end && blocks_[block + count].state == State::kAbsent) ++count;
  return count;
}

Status ObjectContents::hold(std::uint64_t first, std::uint64_t last) {
  std::unique_lock lock(space_.mutex_);
  for (std::uint64_t block = first; block <= last; ++block) ++blocks_[block].readers;
  Status status = Done{};
  for (std::uint64_t block = first; block <= last && status.ok();) {
    if (blocks_[block].state == State::kPresent) {
      ++block;
    } else if (blocks_[block].state == State::kFetching || space_.fetches_ == CopySpace::kFetches) {
      space_.changed_.wait(lock);
    } else {
      const std::uint64_t count = window(block, last);
      for (std::uint64_t i = 0; i < count; ++i) blocks_[block + i].state = State::kFetching;
      ++space_.fetches_;
      lock.unlock();
      status = fetch(block, count);
      lock.lock();
      --space_.fetches_;
      if (!status.ok()) {
        for (std::uint64_t i = 0; i < count; ++i) blocks_[block + i].state = State::kAbsent;
      }
      space_.changed_.notify_all();
    }
  }
  if (!status.ok()) {
    for (std::uint64_t block = first; block <= last; ++block) --blocks_[block].readers;
  }
  return status;
}

void ObjectContents::let_go(std::uint64_t first, std::uint64_t last) {
  const std::lock_guard lock(space_.mutex_);
  for (std::uint64_t block = first; block <= last; ++block) --blocks_[block].readers;
}

Status ObjectContents::fetch(std::uint64_t first, std::uint64_t count) {
  std::vector<ByteRange> ranges;
  for (std::uint64_t block = first; block < first + count; ++block)
    ranges.push_back({block * CopySpace::kBlock, block_bytes(block)});
  KIN_TRY(const std::vector<std::string> parts,
          client_.get_ranges(object_.key, ranges, object_.etag));
  std::vector<std::uint64_t> slots;
  Status written = Done{};
  {
    const std::lock_guard lock(space_.mutex_);
    for (std::uint64_t i = 0; i < count && written.ok(); ++i) {
      const auto slot = space_.take_slot();
      if (slot) slots.push_back(*slot);
      if (!slot) written = slot.error();
    }
  }
  for (std::size_t i = 0; i < slots.size() && written.ok(); ++i)
    written = space_.file_->write_at(slots[i] * CopySpace::kBlock, parts[i]);
  const std::lock_guard lock(space_.mutex_);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!written.ok()) {
      space_.free_slots_.push_back(slots[i]);
      continue;
    }
    blocks_[first + i].slot = slots[i];
    blocks_[first + i].state = State::kPresent;
    space_.kept_.push_back({this, first + i});
  }
  return written;
}

Result<std::filesystem::path> ObjectContents::whole() {
  const std::lock_guard lock(whole_mutex_);
  if (whole_) return whole_->path_of_descriptor();
  KIN_TRY(File copy, File::create_temporary(space_.folder_));
  std::string piece;
  for (std::uint64_t block = 0; block < blocks_.size(); ++block) {
    piece.resize(block_bytes(block));
    KIN_RETURN_IF_ERROR(read_at(block * CopySpace::kBlock, piece.data(), piece.size()));
    KIN_RETURN_IF_ERROR(copy.write(piece));
  }
  whole_.emplace(std::move(copy));
  return whole_->path_of_descriptor();
}

}  // namespace kin::cloud
