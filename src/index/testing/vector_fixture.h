// Synthetic vectors and their true neighbours, for tests of this room.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "index/vector_index.h"

namespace kin::index {

// Around centres that lie apart, as embeddings do. One thread only.
class ClusteredVectors {
 public:
  ClusteredVectors(std::uint32_t dimension, std::size_t centres, std::uint64_t seed)
      : dimension_(dimension), random_(seed) {
    for (std::size_t i = 0; i < centres; ++i) centres_.push_back(noise(1.0));
  }
  std::vector<float> next() {
    std::vector<float> result = centres_[random_.below(centres_.size())];
    const std::vector<float> around = noise(0.6);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += around[i];
    return result;
  }

 private:
  std::vector<float> noise(double spread) {
    std::vector<float> result(dimension_);
    for (float& value : result) {
      double sum = -6;  // twelve uniform numbers are as good as normal here
      for (int i = 0; i < 12; ++i) sum += random_.unit();
      value = static_cast<float>(spread * sum);
    }
    return result;
  }

  std::uint32_t dimension_;
  Random random_;
  std::vector<std::vector<float>> centres_;
};

// The vectors of a test, also as the RawVectors of an index.
class VectorModel : public RawVectors {
 public:
  explicit VectorModel(VectorSpace space) : space_(space) {}

  Result<bool> read(std::uint32_t id, std::span<float> out) const override {
    const auto found = vectors_.find(id);
    if (found == vectors_.end()) return false;
    std::ranges::copy(found->second, out.begin());
    return true;
  }
  void set(std::uint32_t id, std::vector<float> vector) { vectors_[id] = std::move(vector); }
  void erase(std::uint32_t id) { vectors_.erase(id); }
  std::size_t size() const { return vectors_.size(); }
  const std::map<std::uint32_t, std::vector<float>>& vectors() const { return vectors_; }

  std::vector<VectorHit> nearest(std::span<const float> query, std::size_t k,
                                 const IdFilter* filter = nullptr) const {
    const std::vector<float> prepared_query = *prepared(space_, query);
    std::vector<VectorHit> all;
    for (const auto& [id, vector] : vectors_) {
      if (filter != nullptr && !filter->contains(id)) continue;
      all.push_back(
          {id, exact_distance(space_.distance, prepared_query, *prepared(space_, vector))});
    }
    std::ranges::sort(all, [](const VectorHit& a, const VectorHit& b) {
      return std::pair(a.distance, a.id) < std::pair(b.distance, b.id);
    });
    all.resize(std::min(all.size(), k));
    return all;
  }

 private:
  VectorSpace space_;
  std::map<std::uint32_t, std::vector<float>> vectors_;
};

// The share of `wanted` that was found. Any hit as near as the last wanted one counts.
inline double recall_of(const std::vector<VectorHit>& found, const std::vector<VectorHit>& wanted) {
  if (wanted.empty()) return 1;
  std::set<std::uint32_t> ids;
  for (const VectorHit& hit : found) ids.insert(hit.id);
  double hits = 0;
  for (const VectorHit& hit : wanted) hits += ids.contains(hit.id) ? 1 : 0;
  return hits / static_cast<double>(wanted.size());
}

// Runs steps until the index is idle, without waiting: `now` advances as the steps ask for.
inline SteadyTime run_steps(VectorIndex& index, SteadyTime now = {}) {
  while (const auto next = index.step(now).value().next(now)) now = *next;
  return now;
}

}  // namespace kin::index
