#include "bench/search/vectors_peer.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <hnswlib/hnswlib.h>
#pragma GCC diagnostic pop

#include <string>

namespace kin::bench {
namespace {

using DistanceFunction = float (*)(const void*, const void*, const void*);

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float by_avx512(const void* a, const void* b, const void* size) {
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  std::size_t count = *static_cast<const std::size_t*>(size);
  __m512 sum = _mm512_setzero_ps();
  for (; count >= 16; count -= 16, x += 16, y += 16) {
    const __m512 d = _mm512_sub_ps(_mm512_loadu_ps(x), _mm512_loadu_ps(y));
    sum = _mm512_fmadd_ps(d, d, sum);
  }
  const auto rest = static_cast<__mmask16>((1U << count) - 1);
  const __m512 d = _mm512_sub_ps(_mm512_maskz_loadu_ps(rest, x), _mm512_maskz_loadu_ps(rest, y));
  return _mm512_reduce_add_ps(_mm512_fmadd_ps(d, d, sum));
}

__attribute__((target("avx2,fma"))) float by_avx2(const void* a, const void* b, const void* size) {
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  std::size_t count = *static_cast<const std::size_t*>(size);
  __m256 sum = _mm256_setzero_ps();
  for (; count >= 8; count -= 8, x += 8, y += 8) {
    const __m256 d = _mm256_sub_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y));
    sum = _mm256_fmadd_ps(d, d, sum);
  }
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, sum);
  float total = 0;
  for (const float lane : lanes) total += lane;
  for (; count > 0; --count, ++x, ++y) total += (*x - *y) * (*x - *y);
  return total;
}
#endif

// hnswlib chooses its instruction set at compile time, this class at run time.
class WidestSpace : public hnswlib::L2Space {
 public:
  explicit WidestSpace(std::size_t dimension) : hnswlib::L2Space(dimension) {
    function_ = hnswlib::L2Space::get_dist_func();
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") != 0)
      function_ = by_avx512;
    else if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0)
      function_ = by_avx2;
#endif
  }
  DistanceFunction get_dist_func() { return function_; }

 private:
  DistanceFunction function_ = nullptr;
};

class Graph : public HnswPeer {
 public:
  // With hnswlib's defaults of M and ef_construction.
  Graph(std::span<const float> vectors, std::size_t dimension)
      : space_(dimension), graph_(&space_, vectors.size() / dimension, 16, 200) {
    for (std::size_t i = 0; i < vectors.size() / dimension; ++i)
      graph_.addPoint(vectors.data() + i * dimension, i);
  }
  void search(const float* query, std::size_t k, std::size_t ef,
              std::vector<std::uint32_t>& found) override {
    graph_.setEf(ef);
    found.clear();
    for (auto queue = graph_.searchKnn(query, k); !queue.empty(); queue.pop())
      found.push_back(static_cast<std::uint32_t>(queue.top().second));
  }

 private:
  WidestSpace space_;
  hnswlib::HierarchicalNSW<float> graph_;
};

}  // namespace

Result<std::unique_ptr<HnswPeer>> HnswPeer::build(std::span<const float> vectors,
                                                  std::size_t dimension) {
  try {
    return std::unique_ptr<HnswPeer>(std::make_unique<Graph>(vectors, dimension));
  } catch (const std::exception& failure) {
    return Error{Code::kInternal, std::string("hnswlib: ") + failure.what()};
  }
}

}  // namespace kin::bench
