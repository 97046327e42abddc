// An uninitialised buffer for bytes that are about to be read.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>

namespace kin {

// Grows without touching the bytes it adds: bytes that are never written are not resident, and a
// large buffer grows in place where the system can move its pages. Thread-compatible.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ByteBuffer() { std::free(bytes_); }

  char* data() { return bytes_; }
  const char* data() const { return bytes_; }
  std::size_t size() const { return size_; }

  // Keeps the existing bytes; new bytes are uninitialised.
  void resize(std::size_t size) {
    if (size == size_) return;
    void* const moved = std::realloc(bytes_, size);
    if (moved == nullptr && size > 0) throw std::bad_alloc();
    bytes_ = static_cast<char*>(moved);
    size_ = size;
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kin
