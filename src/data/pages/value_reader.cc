#include "data/pages/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "data/pages/bits.h"
#include "data/pages/delta.h"
#include "data/pages/hybrid.h"

namespace kin::data {
namespace {

constexpr std::size_t kBatch = 1024;
// Bytes of decoded values that one read() makes.
constexpr std::size_t kArenaBytes = 1 << 20;

Error ends_early() {
  return {Code::kDataLoss, "a page has fewer values than it should"};
}

class PlainFixedReader : public ValueReader {
 public:
  explicit PlainFixedReader(std::size_t width) : width_(width) {}
  Status open(std::string_view bytes) override {
    rest_ = bytes;
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    const std::size_t got = std::min(count, rest_.size() / width_);
    if (got == 0) return ends_early();
    for (std::size_t i = 0; i < got; ++i) to.push_back(rest_.substr(i * width_, width_));
    rest_.remove_prefix(got * width_);
    return got;
  }

 private:
  std::size_t width_;
  std::string_view rest_;
};

class PlainBytesReader : public ValueReader {
 public:
  Status open(std::string_view bytes) override {
    rest_ = bytes;
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    for (std::size_t i = 0; i < count; ++i) {
      if (rest_.size() < 4) return ends_early();
      const auto length = load_le<std::uint32_t>(rest_.data());
      if (length > rest_.size() - 4) return ends_early();
      to.push_back(rest_.substr(4, length));
      rest_.remove_prefix(4 + std::size_t{length});
    }
    return count;
  }

 private:
  std::string_view rest_;
};

std::string_view truth(bool value) {
  return {value ? "\1" : "\0", 1};
}

class PlainBitsReader : public ValueReader {
 public:
  Status open(std::string_view bytes) override {
    bytes_ = bytes;
    at_ = 0;
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    const std::size_t got = std::min(count, bytes_.size() * 8 - at_);
    if (got == 0) return ends_early();
    for (std::size_t i = 0; i < got; ++i, ++at_)
      to.push_back(truth((static_cast<std::uint8_t>(bytes_[at_ / 8]) >> (at_ % 8) & 1) != 0));
    return got;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Booleans as runs, preceded by their length in bytes.
class RleBitsReader : public ValueReader {
 public:
  Status open(std::string_view bytes) override {
    runs_ = {};
    if (bytes.size() < 4) return Done{};  // reading will fail, if there is anything to read
    const auto length = load_le<std::uint32_t>(bytes.data());
    if (length > bytes.size() - 4) return ends_early();
    runs_ = HybridDecoder(bytes.substr(4, length), 1);
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    std::uint32_t bits[kBatch];
    const std::size_t got = std::min(count, kBatch);
    if (!runs_.read(bits, got)) return ends_early();
    for (std::size_t i = 0; i < got; ++i) to.push_back(truth(bits[i] != 0));
    return got;
  }

 private:
  HybridDecoder runs_;
};

// Indexes into a dictionary, or the values they stand for.
class IndexReader : public ValueReader {
 public:
  explicit IndexReader(const Dictionary* dictionary) : dictionary_(dictionary) {}
  Status open(std::string_view bytes) override {
    constexpr int kMostBits = 32;
    runs_ = {};
    if (bytes.empty()) return Done{};
    const int width = static_cast<std::uint8_t>(bytes.front());
    if (width > kMostBits) return Error{Code::kDataLoss, "dictionary indexes of too many bits"};
    runs_ = HybridDecoder(bytes.substr(1), width);
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    const std::size_t got = std::min(count, kBatch);
    if (!runs_.read(indexes_, got)) return ends_early();
    for (std::size_t i = 0; i < got; ++i) {
      if (dictionary_ == nullptr) {
        to.emplace_back(reinterpret_cast<const char*>(&indexes_[i]), sizeof indexes_[i]);
        continue;
      }
      if (indexes_[i] >= dictionary_->size())
        return Error{Code::kDataLoss, "a page refers to values that its dictionary lacks"};
      to.push_back((*dictionary_)[indexes_[i]]);
    }
    return got;
  }

 private:
  const Dictionary* dictionary_;
  HybridDecoder runs_;
  std::uint32_t indexes_[kBatch] = {};
};

class DeltaIntReader : public ValueReader {
 public:
  explicit DeltaIntReader(std::size_t width) : width_(width) {}
  Status open(std::string_view bytes) override {
    open_ = numbers_.open(bytes);
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    const std::size_t got = std::min(count, kBatch);
    if (!open_ || !numbers_.read(decoded_, got)) return ends_early();
    // Little-endian: the low half of a number comes first.
    for (std::size_t i = 0; i < got; ++i)
      to.emplace_back(reinterpret_cast<const char*>(&decoded_[i]), width_);
    return got;
  }

 private:
  std::size_t width_;
  bool open_ = false;
  DeltaDecoder numbers_;
  std::uint64_t decoded_[kBatch] = {};
};

// Lengths, then the bytes of all values.
class DeltaLengthReader : public ValueReader {
 public:
  Status open(std::string_view bytes) override {
    rest_ = {};
    open_ = lengths_.open(bytes) && lengths_.bytes_behind(rest_);
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    std::uint64_t lengths[kBatch];
    const std::size_t got = std::min(count, kBatch);
    if (!open_ || !lengths_.read(lengths, got)) return ends_early();
    for (std::size_t i = 0; i < got; ++i) {
      const auto length = static_cast<std::uint32_t>(lengths[i]);
      if (length > rest_.size()) return ends_early();
      to.push_back(rest_.substr(0, length));
      rest_.remove_prefix(length);
    }
    return got;
  }

 private:
  bool open_ = false;
  DeltaDecoder lengths_;
  std::string_view rest_;
};

// Each value as the prefix it shares with the one before, and the rest. A value is never longer
// than the page, but many of them together may be: they are made a few at a time.
class DeltaBytesReader : public ValueReader {
 public:
  // `width` is that of every value; 0: any width.
  explicit DeltaBytesReader(std::size_t width) : width_(width) {}
  Status open(std::string_view bytes) override {
    std::string_view behind;
    last_.clear();
    open_ = prefixes_.open(bytes) && prefixes_.bytes_behind(behind);
    return open_ ? suffixes_.open(behind) : Status(Done{});
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    if (!open_) return ends_early();
    arena_.clear();
    ends_.clear();
    while (ends_.size() < std::min(count, kBatch) && arena_.size() < kArenaBytes) {
      std::uint64_t prefix = 0;
      views_.clear();
      if (!prefixes_.read(&prefix, 1)) return ends_early();
      KIN_RETURN_IF_ERROR(suffixes_.read(1, views_));
      const auto shared = static_cast<std::uint32_t>(prefix);
      if (shared > last_.size()) return ends_early();
      last_.resize(shared);
      last_ += views_.front();
      if (width_ > 0 && last_.size() != width_)
        return Error{Code::kDataLoss, "a value of fixed length has another length"};
      arena_ += last_;
      ends_.push_back(arena_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      to.emplace_back(arena_.data() + begin, end - begin);
      begin = end;
    }
    return ends_.size();
  }

 private:
  std::size_t width_;
  bool open_ = false;
  DeltaDecoder prefixes_;
  DeltaLengthReader suffixes_;
  std::string last_;
  std::string arena_;
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> views_;
};

// The first bytes of all values, then the second ones, and so on.
class SplitReader : public ValueReader {
 public:
  explicit SplitReader(std::size_t width) : width_(width) {}
  Status open(std::string_view bytes) override {
    bytes_ = bytes;
    count_ = bytes.size() / width_;
    at_ = 0;
    return Done{};
  }
  Result<std::size_t> read(std::size_t count, std::vector<std::string_view>& to) override {
    const std::size_t got = std::min({count, kBatch, count_ - at_});
    if (got == 0) return ends_early();
    arena_.resize(got * width_);
    for (std::size_t i = 0; i < got; ++i) {
      for (std::size_t byte = 0; byte < width_; ++byte)
        arena_[i * width_ + byte] = bytes_[byte * count_ + at_ + i];
    }
    at_ += got;
    for (std::size_t i = 0; i < got; ++i) to.emplace_back(arena_.data() + i * width_, width_);
    return got;
  }

 private:
  std::size_t width_;
  std::string_view bytes_;
  std::size_t count_ = 0;
  std::size_t at_ = 0;
  std::string arena_;
};

Error unknown(const ValueType& type, Encoding encoding) {
  return {Code::kInvalidArgument,
          fmt::format("encoding {} of values of type {} cannot be read", static_cast<int>(encoding),
                      static_cast<int>(type.physical))};
}

std::unique_ptr<ValueReader> make_plain(const ValueType& type) {
  if (type.physical == Physical::kBoolean) return std::make_unique<PlainBitsReader>();
  if (type.physical == Physical::kBytes) return std::make_unique<PlainBytesReader>();
  return std::make_unique<PlainFixedReader>(width_of(type));
}

}  // namespace

std::size_t width_of(const ValueType& type) {
  switch (type.physical) {
    case Physical::kBoolean: return 1;
    case Physical::kInt32:
    case Physical::kFloat: return 4;
    case Physical::kInt64:
    case Physical::kDouble: return 8;
    case Physical::kInt96: return 12;
    case Physical::kBytes: return 0;
    case Physical::kFixed: return type.fixed_bytes;
  }
  return 0;
}

Result<Dictionary> read_dictionary(const ValueType& type, std::string_view bytes,
                                   std::size_t count) {
  Dictionary dictionary;
  // Booleans have no dictionaries. Every value takes some bytes, so a wrong count costs little.
  const std::size_t least = type.physical == Physical::kBytes ? 4 : width_of(type);
  if (type.physical == Physical::kBoolean || least == 0 || count > bytes.size() / least)
    return Error{Code::kDataLoss, "a dictionary has fewer values than it should"};
  dictionary.reserve(count);
  const std::unique_ptr<ValueReader> reader = make_plain(type);
  KIN_RETURN_IF_ERROR(reader->open(bytes));
  while (dictionary.size() < count)
    KIN_RETURN_IF_ERROR(reader->read(count - dictionary.size(), dictionary));
  return dictionary;
}

Result<std::unique_ptr<ValueReader>> make_value_reader(const ValueType& type, Encoding encoding,
                                                       const Dictionary* dictionary) {
  using Reader = std::unique_ptr<ValueReader>;
  const Physical physical = type.physical;
  const std::size_t width = width_of(type);
  const bool is_int = physical == Physical::kInt32 || physical == Physical::kInt64;
  const bool is_bytes = physical == Physical::kBytes;
  const bool is_fixed = physical == Physical::kFixed;
  if (is_fixed && width == 0) return unknown(type, encoding);
  switch (encoding) {
    case Encoding::kPlain: return make_plain(type);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary: return Reader(std::make_unique<IndexReader>(dictionary));
    case Encoding::kRle:
      if (physical != Physical::kBoolean) break;
      return Reader(std::make_unique<RleBitsReader>());
    case Encoding::kDeltaBinary:
      if (!is_int) break;
      return Reader(std::make_unique<DeltaIntReader>(width));
    case Encoding::kDeltaLength:
      if (!is_bytes) break;
      return Reader(std::make_unique<DeltaLengthReader>());
    case Encoding::kDeltaBytes:
      if (!is_bytes && !is_fixed) break;
      return Reader(std::make_unique<DeltaBytesReader>(width));
    case Encoding::kByteStreamSplit:
      if (is_bytes || physical == Physical::kBoolean) break;
      return Reader(std::make_unique<SplitReader>(width));
    case Encoding::kBitPacked: break;
  }
  return unknown(type, encoding);
}

}  // namespace kin::data
