// A fixed number of zeroed values for random access. They lie on large pages where the system has
// them: half the cost of a random read is finding its page.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace kin {

namespace huge_detail {
// Zeroed, aligned to a cache line or better; stops the program if there is no memory.
void* allocate(std::size_t bytes);
void release(void* memory, std::size_t bytes);
}  // namespace huge_detail

// Moved, never copied. As thread-safe as a plain array.
template <typename T>
class HugeArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  HugeArray() = default;
  explicit HugeArray(std::size_t size)
      : data_(static_cast<T*>(huge_detail::allocate(size * sizeof(T)))), size_(size) {}
  HugeArray(HugeArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HugeArray& operator=(HugeArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HugeArray() { huge_detail::release(data_, size_ * sizeof(T)); }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const T> values() const { return {data_, size_}; }
  std::span<T> values() { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kin
