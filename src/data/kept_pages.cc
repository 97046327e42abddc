#include "data/kept_pages.h"

#include <malloc.h>

#include <iterator>

#include "data/pages/codec.h"

namespace kin::data {
namespace {

// Includes the entry in the map.
std::uint64_t cost_of(std::uint64_t bytes) {
  constexpr std::uint64_t kPlace = 256;
  return bytes + kPlace;
}

}  // namespace

KeptPages::KeptPages() = default;
KeptPages::~KeptPages() = default;

void KeptPages::erase(std::map<Key, Page>::iterator page) {
  bytes_ -= cost_of(page->second->view().size());
  pages_.erase(page);
}

void KeptPages::limit(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  limit_ = bytes;
  const bool too_many = bytes_ > limit_ && !pages_.empty();
  while (bytes_ > limit_ && !pages_.empty()) erase(std::prev(pages_.end()));
  // Returns freed memory to the system, so that other parts of the program can use it.
  if (too_many) ::malloc_trim(0);
}

std::uint64_t KeptPages::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

KeptPages::Page KeptPages::find(const std::string& file, std::uint64_t begin) const {
  const std::scoped_lock lock(mutex_);
  const auto found = pages_.find({file, begin});
  return found == pages_.end() ? nullptr : found->second;
}

bool KeptPages::reserve(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes_ + cost_of(bytes) > limit_) return false;
  bytes_ += cost_of(bytes);
  return true;
}

void KeptPages::give_back(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  bytes_ -= cost_of(bytes);
}

KeptPages::Page KeptPages::keep(const std::string& file, std::uint64_t begin, PageBuffer page) {
  auto kept = std::make_shared<const PageBuffer>(std::move(page));
  const std::scoped_lock lock(mutex_);
  // Another thread may have kept the same page first.
  if (!pages_.try_emplace({file, begin}, kept).second) bytes_ -= cost_of(kept->view().size());
  return kept;
}

void KeptPages::drop(const std::string& file, std::uint64_t begin) {
  const std::scoped_lock lock(mutex_);
  const auto found = pages_.find({file, begin});
  if (found != pages_.end()) erase(found);
}

}  // namespace kin::data
