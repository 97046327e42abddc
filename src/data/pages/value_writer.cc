#include "data/pages/value_writer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "data/pages/bits.h"
#include "data/pages/delta.h"
#include "data/pages/hybrid.h"

namespace kin::data {
namespace {

// Values one after another, with or without their lengths.
class PlainWriter : public ValueWriter {
 public:
  explicit PlainWriter(bool lengths) : lengths_(lengths) {}
  void put(std::string_view value) override {
    // The buffer does not grow in steps for large values, because these dominate the memory.
    constexpr std::size_t kLarge = 1 << 20;
    if (value.size() > kLarge) out_.reserve(out_.size() + value.size() + kLarge);
    if (lengths_) append_le(out_, static_cast<std::uint32_t>(value.size()));
    out_ += value;
  }
  std::size_t bytes() const override { return out_.size(); }
  void take(std::string& out) override {
    if (out.empty()) {
      std::swap(out, out_);
      return;
    }
    out += out_;
    out_.clear();
  }

 private:
  bool lengths_;
  std::string out_;
};

class PlainBitsWriter : public ValueWriter {
 public:
  void put(std::string_view value) override { packer_.put(value.front() != 0 ? 1 : 0); }
  std::size_t bytes() const override { return out_.size() + 1; }
  void take(std::string& out) override {
    packer_.finish();
    out += out_;
    out_.clear();
  }

 private:
  std::string out_;
  BitPacker packer_{out_, 1};
};

class RleBitsWriter : public ValueWriter {
 public:
  void put(std::string_view value) override { runs_.put(value.front() != 0 ? 1 : 0); }
  std::size_t bytes() const override { return runs_.bytes(); }
  void take(std::string& out) override {
    std::string runs;
    runs_.take(runs);
    append_le(out, static_cast<std::uint32_t>(runs.size()));
    out += runs;
  }

 private:
  HybridEncoder runs_{1};
};

class IndexWriter : public ValueWriter {
 public:
  explicit IndexWriter(int bits) : bits_(bits), runs_(bits) {}
  void put(std::string_view value) override { runs_.put(load_le<std::uint32_t>(value.data())); }
  std::size_t bytes() const override { return runs_.bytes(); }
  void take(std::string& out) override {
    out += static_cast<char>(bits_);
    runs_.take(out);
  }

 private:
  int bits_;
  HybridEncoder runs_;
};

class DeltaIntWriter : public ValueWriter {
 public:
  explicit DeltaIntWriter(std::size_t width)
      : width_(width), numbers_(static_cast<int>(width) * 8) {}
  void put(std::string_view value) override {
    numbers_.put(width_ == 4 ? load_le<std::uint32_t>(value.data())
                             : load_le<std::uint64_t>(value.data()));
  }
  std::size_t bytes() const override { return numbers_.bytes(); }
  void take(std::string& out) override { numbers_.take(out); }

 private:
  std::size_t width_;
  DeltaEncoder numbers_;
};

class DeltaLengthWriter : public ValueWriter {
 public:
  void put(std::string_view value) override {
    lengths_.put(value.size());
    bytes_ += value;
  }
  std::size_t bytes() const override { return lengths_.bytes() + bytes_.size(); }
  void take(std::string& out) override {
    lengths_.take(out);
    out += bytes_;
    bytes_.clear();
  }

 private:
  DeltaEncoder lengths_{32};
  std::string bytes_;
};

class DeltaBytesWriter : public ValueWriter {
 public:
  void put(std::string_view value) override {
    const std::size_t most = std::min(value.size(), last_.size());
    const auto differing = std::mismatch(value.begin(), value.begin() + most, last_.begin()).first;
    const auto shared = static_cast<std::size_t>(differing - value.begin());
    prefixes_.put(shared);
    suffixes_.put(value.substr(shared));
    last_ = value;
  }
  std::size_t bytes() const override { return prefixes_.bytes() + suffixes_.bytes(); }
  void take(std::string& out) override {
    prefixes_.take(out);
    suffixes_.take(out);
    last_.clear();
  }

 private:
  DeltaEncoder prefixes_{32};
  DeltaLengthWriter suffixes_;
  std::string last_;
};

class SplitWriter : public ValueWriter {
 public:
  explicit SplitWriter(std::size_t width) : width_(width) {}
  void put(std::string_view value) override { plain_ += value; }
  std::size_t bytes() const override { return plain_.size(); }
  void take(std::string& out) override {
    for (std::size_t byte = 0; byte < width_; ++byte) {
      for (std::size_t at = byte; at < plain_.size(); at += width_) out += plain_[at];
    }
    plain_.clear();
  }

 private:
  std::size_t width_;
  std::string plain_;
};

}  // namespace

std::unique_ptr<ValueWriter> make_value_writer(const ValueType& type, Encoding encoding,
                                               int index_bits) {
  switch (encoding) {
    case Encoding::kPlain:
      if (type.physical == Physical::kBoolean) return std::make_unique<PlainBitsWriter>();
      return std::make_unique<PlainWriter>(type.physical == Physical::kBytes);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary: return std::make_unique<IndexWriter>(index_bits);
    case Encoding::kRle: return std::make_unique<RleBitsWriter>();
    case Encoding::kDeltaBinary: return std::make_unique<DeltaIntWriter>(width_of(type));
    case Encoding::kDeltaLength: return std::make_unique<DeltaLengthWriter>();
    case Encoding::kDeltaBytes: return std::make_unique<DeltaBytesWriter>();
    case Encoding::kByteStreamSplit: return std::make_unique<SplitWriter>(width_of(type));
    case Encoding::kBitPacked: break;
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::data
