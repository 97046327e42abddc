// Little-endian numbers in byte buffers, for on-disk formats.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kin {

static_assert(std::endian::native == std::endian::little,
              "formats are written as memory holds them");

template <typename T>
T load_le(const void* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store_le(void* to, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void append_le(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The bytes of a span of plain values.
template <typename T>
std::string_view as_bytes_view(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// Reads numbers from the front of a buffer. After a read past the end every read returns zero, so a
// decoder can read a whole header and check ok() once. One thread only.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T read() {
    const std::string_view bytes = read_bytes(sizeof(T));
    return ok_ ? load_le<T>(bytes.data()) : T{};
  }

  std::string_view read_bytes(std::size_t count) {
    if (rest_.size() < count) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  // `count` plain values; none if there are fewer.
  template <typename T>
  std::vector<T> read_vector(std::size_t count) {
    const std::string_view bytes = read_bytes(count * sizeof(T));
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace kin
