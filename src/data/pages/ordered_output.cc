#include "data/pages/ordered_output.h"

#include <algorithm>

namespace kin::data {

Status OrderedOutput::write(std::string_view bytes) {
  KIN_RETURN_IF_ERROR(file_.write(bytes));
  file_.begin_sync(end_, bytes.size());
  end_ += bytes.size();
  return Done{};
}

Status OrderedOutput::write_piece(OutputPiece& piece) {
  OutputChunk& chunk = *piece.chunk;
  std::uint64_t at = end_;
  for (const WrittenPage& page : piece.content.pages) {
    if (!chunk.begin) chunk.begin = at;
    ++chunk.pages[{page.kind, page.encoding}];
    chunk.bytes += page.bytes;
    chunk.unpacked_bytes += page.unpacked_bytes;
    if (page.kind == PageKind::kDictionary) {
      chunk.has_dictionary = true;
    } else {
      if (!chunk.data_begin) chunk.data_begin = at;
      chunk.locations.push_back({at, page.bytes, chunk.rows});
      chunk.values += page.values;
      chunk.rows += page.rows;
    }
    at += page.bytes;
  }
  chunk.removed_nulls += std::exchange(piece.content.removed_nulls, 0);
  chunk.nulls_unknown = chunk.nulls_unknown || piece.content.nulls_unknown;
  chunk.changed = chunk.changed || piece.content.changed;
  piece.content.pages.clear();
  for (const std::string& page : piece.content.stored) KIN_RETURN_IF_ERROR(write(page));
  piece.content.stored.clear();
  piece.content.bytes = 0;
  return Done{};
}

Status OrderedOutput::write_waiting(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    const auto next = waiting_.find(turn_);
    if (next == waiting_.end()) return Done{};
    OutputPiece piece = std::move(next->second);
    waiting_.erase(next);
    const std::uint64_t bytes = piece.content.bytes;
    lock.unlock();
    const Status written = write_piece(piece);
    lock.lock();
    KIN_RETURN_IF_ERROR(written);
    waiting_bytes_ -= bytes;
    ++turn_;
    turned_.notify_all();
  }
}

Status OrderedOutput::give(OutputPiece& piece, bool finished) {
  std::unique_lock lock(mutex_);
  const auto my_turn = [&] { return turn_ == piece.sequence; };
  const auto has_room = [&] { return waiting_bytes_ + piece.content.bytes <= limit_; };
  turned_.wait(lock, [&] { return failed_ || my_turn() || has_room(); });
  if (failed_) return Error{Code::kCancelled, "another part of the output failed"};
  if (!my_turn()) {
    if (!finished) return Done{};
    waiting_bytes_ += piece.content.bytes;
    waiting_.emplace(piece.sequence, std::move(piece));
    return Done{};
  }
  lock.unlock();
  KIN_RETURN_IF_ERROR(write_piece(piece));
  if (!finished) return Done{};
  lock.lock();
  ++turn_;
  turned_.notify_all();
  return write_waiting(lock);
}

void OrderedOutput::fail() {
  const std::scoped_lock lock(mutex_);
  failed_ = true;
  turned_.notify_all();
}

}  // namespace kin::data
