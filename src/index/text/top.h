// The best hits so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "index/text/score.h"
#include "index/text_document.h"

namespace kin::index {

struct ScoredDoc {
  Score score = 0;
  std::uint32_t number = 0;
  DocKind kind = DocKind::kEntity;

  // Ties are broken by the lower number, so that the order is total.
  friend bool better(const ScoredDoc& a, const ScoredDoc& b) {
    return a.score != b.score ? a.score > b.score : a.number < b.number;
  }
};

// One thread only.
class TopDocs {
 public:
  explicit TopDocs(std::size_t capacity) : capacity_(capacity) {}

  // Documents that score less are not kept.
  Score least() const {
    return heap_.size() < capacity_ || capacity_ == 0 ? 0 : heap_.front().score;
  }

  void add(const ScoredDoc& doc) {
    if (capacity_ == 0) return;
    const auto order = [](const ScoredDoc& a, const ScoredDoc& b) { return better(a, b); };
    if (heap_.size() == capacity_) {
      if (!better(doc, heap_.front())) return;
      std::ranges::pop_heap(heap_, order);
      heap_.pop_back();
    }
    heap_.push_back(doc);
    std::ranges::push_heap(heap_, order);
  }

  // Best first.
  std::vector<ScoredDoc> take() {
    std::ranges::sort(heap_, [](const ScoredDoc& a, const ScoredDoc& b) { return better(a, b); });
    return std::move(heap_);
  }

 private:
  std::size_t capacity_;
  std::vector<ScoredDoc> heap_;  // the worst in front
};

}  // namespace kin::index
