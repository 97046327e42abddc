// Memory for values that differ from their bytes in the record.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace kin::data {

// Memory for values that had to be unescaped. Values stay in place until clear().
class ValueArena {
 public:
  // `bytes` contiguous free bytes; take() keeps the first of them.
  char* room(std::size_t bytes);
  void take(std::size_t bytes) { used_ += bytes; }
  void clear();

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;  // of the last chunk
};

}  // namespace kin::data
