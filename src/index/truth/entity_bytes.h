// The parts of rows and records: variable-length numbers, texts, ids, versions, periods and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "index/entity.h"

namespace kin::index {

inline constexpr std::size_t kMaxDimensions = 65'536;

// Written in formats: the numbers stay.
enum RowFlag : std::uint8_t {
  kDeleted = 1,
  kHasFrom = 2,
  kHasUntil = 4,
  kHasSummary = 8,
  kHasAssigned = 16
};

// Seven bits per byte, lowest first. All bytes but the last have the top bit set.
inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// The highest byte first, so that the order of bytes is the order of numbers. For numbers of 32 and
// 64 bits, and ids that are such numbers.
template <typename Number>
void append_be(std::string& out, Number number) {
  if constexpr (sizeof number == sizeof(std::uint32_t)) {
    append_le(out, __builtin_bswap32(static_cast<std::uint32_t>(number)));
  } else {
    append_le(out, __builtin_bswap64(static_cast<std::uint64_t>(number)));
  }
}
template <typename Number>
std::string be_bytes(Number number) {
  std::string bytes;
  append_be(bytes, number);
  return bytes;
}

inline void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out.append(text);
}

// Like ByteReader: after a failed read every further read gives nothing. One thread only.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) : reader_(bytes) {}

  template <typename T>
  T read() {
    return reader_.read<T>();
  }
  std::string_view bytes(std::size_t count) { return reader_.read_bytes(count); }

  // Fails for more than 64 bits or needless bytes, so that a value has one spelling.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = reader_.read<std::uint8_t>();
      const std::uint64_t bits = byte & 0x7F;
      if (shift == 63 && bits > 1) break;
      value |= bits << shift;
      if (byte < 0x80) {
        if (byte == 0 && shift > 0) break;
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  // Fails if more than `most`.
  std::uint64_t varint_up_to(std::uint64_t most) {
    const std::uint64_t value = varint();
    if (value <= most) return value;
    ok_ = false;
    return 0;
  }
  std::uint32_t varint32() { return static_cast<std::uint32_t>(varint_up_to(0xFFFFFFFFU)); }
  std::string_view text() {
    return bytes(static_cast<std::size_t>(varint_up_to(reader_.rest().size())));
  }
  // A count of things of at least one byte each. Fails if fewer bytes follow.
  std::size_t count() { return static_cast<std::size_t>(varint_up_to(reader_.rest().size())); }

  bool ok() const { return ok_ && reader_.ok(); }
  bool done() const { return ok() && reader_.rest().empty(); }
  std::string_view rest() const { return reader_.rest(); }

 private:
  ByteReader reader_;
  bool ok_ = true;
};

inline void append_id(std::string& out, const DocId& id) {
  out.append(id.view());
}
DocId read_id(RowReader& reader);

void append_version(std::string& out, const Version& version);
Version read_version(RowReader& reader);

// An open end of a period takes no bytes; flags say which ends follow. range_flags() of what was
// read must be the flags that were read, so that a period has one spelling.
std::uint8_t range_flags(const Validity& valid);
void append_range(std::string& out, const Validity& valid);
Validity read_range(RowReader& reader, std::uint8_t flags);

void append_value(std::string& out, const AttributeValue& value);
std::optional<AttributeValue> read_value(RowReader& reader);

// Nothing if the bytes are not from 1 to kMaxDimensions numbers.
std::optional<std::vector<float>> to_vector(std::string_view bytes);

}  // namespace kin::index
