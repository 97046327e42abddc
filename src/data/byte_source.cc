#include "data/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <vector>

#include "base/file.h"

namespace kin::data {
namespace {

constexpr std::size_t kPackedBytes = 256 << 10;

class PlainSource : public ByteSource {
 public:
  PlainSource(File file, std::uint64_t offset, std::uint64_t size)
      : file_(std::move(file)), offset_(offset), size_(size) {}

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    const std::size_t count = std::min<std::uint64_t>(capacity, size_ - offset_);
    KIN_RETURN_IF_ERROR(file_.read_at(offset_, to, count));
    offset_ += count;
    return count;
  }
  std::uint64_t consumed() const override { return offset_; }

 private:
  File file_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

// What both decompressors share: the packed bytes that were read and not yet unpacked.
class PackedSource : public ByteSource {
 public:
  PackedSource(File file, std::string shown_as)
      : file_(std::move(file)), shown_as_(std::move(shown_as)), packed_(kPackedBytes) {}
  std::uint64_t consumed() const override { return consumed_; }

 protected:
  // Reads more if nothing is waiting. False at the end of the file.
  Result<bool> fill() {
    if (begin_ < end_) return true;
    KIN_TRY(end_, file_.read(packed_.data(), packed_.size()));
    begin_ = 0;
    consumed_ += end_;
    return end_ > 0;
  }
  Error damaged(std::string_view why) const {
    return Error{Code::kDataLoss,
                 fmt::format("{}: the compressed data is damaged: {}", shown_as_, why)};
  }
  Error something_follows() const {
    return Error{Code::kDataLoss,
                 fmt::format("{}: something follows the compressed data", shown_as_)};
  }
  Error cut_short() const {
    return Error{Code::kDataLoss,
                 fmt::format("{}: the compressed data ends too early (was the file "
                             "copied or downloaded completely?)",
                             shown_as_)};
  }

  File file_;
  std::string shown_as_;
  std::vector<char> packed_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t consumed_ = 0;
};

class GzipSource : public PackedSource {
 public:
  using PackedSource::PackedSource;
  ~GzipSource() override {
    if (started_) inflateEnd(&stream_);
  }

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    for (;;) {
      KIN_TRY(const bool more, fill());
      if (!more && in_member_ && !pending_output_) return cut_short();
      if (!more && !in_member_) return std::size_t{0};
      if (!in_member_ && started_) {
        KIN_TRY(const bool member, skip_padding());
        if (!member) continue;
      }
      KIN_RETURN_IF_ERROR(start_member());
      KIN_TRY(const std::size_t got, unpack(to, capacity));
      if (got > 0) return got;
    }
  }

 private:
  // Skips zeros behind a member, with which files are filled up to whole blocks. True if another
  // member seems to follow.
  Result<bool> skip_padding() {
    constexpr char kFirstOfMember = '\x1f';
    const std::size_t before = begin_;
    while (begin_ < end_ && packed_[begin_] == '\0') ++begin_;
    padded_ |= begin_ > before;
    if (begin_ == end_) return false;
    if (padded_ || packed_[begin_] != kFirstOfMember) return something_follows();
    return true;
  }

  Status start_member() {
    if (in_member_) return Done{};
    constexpr int kGzipOnly = 15 + 16;
    const int outcome = started_ ? inflateReset(&stream_) : inflateInit2(&stream_, kGzipOnly);
    if (outcome != Z_OK) return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
    started_ = true;
    in_member_ = true;
    return Done{};
  }

  Result<std::size_t> unpack(char* to, std::size_t capacity) {
    capacity = std::min<std::size_t>(capacity, 1 << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(end_ - begin_);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(capacity);
    const int outcome = inflate(&stream_, Z_NO_FLUSH);
    begin_ = end_ - stream_.avail_in;
    pending_output_ = stream_.avail_out == 0;
    if (outcome == Z_STREAM_END) {
      in_member_ = false;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      return damaged(stream_.msg != nullptr ? stream_.msg : "not gzip");
    }
    return capacity - stream_.avail_out;
  }

  z_stream stream_{};
  bool started_ = false;
  bool in_member_ = false;
  bool padded_ = false;          // zeros followed the last member
  bool pending_output_ = false;  // the output was full, so more may come without more input
};

class ZstdSource : public PackedSource {
 public:
  ZstdSource(File file, std::string shown_as) : PackedSource(std::move(file), std::move(shown_as)) {
    // What --long and --ultra may have used; the default refuses more than 128 MiB.
    constexpr int kLargestWindow = 31;
    if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kLargestWindow);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    if (stream_ == nullptr)
      return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
    for (;;) {
      KIN_TRY(const bool more, fill());
      if (!more && in_frame_ && !pending_output_) return cut_short();
      if (!more && !pending_output_) return std::size_t{0};
      ZSTD_inBuffer from{packed_.data() + begin_, end_ - begin_, 0};
      ZSTD_outBuffer into{to, capacity, 0};
      const std::size_t outcome = ZSTD_decompressStream(stream_, &into, &from);
      if (ZSTD_isError(outcome) != 0) {
        const bool no_frame = ZSTD_getErrorCode(outcome) == ZSTD_error_prefix_unknown;
        return after_frame_ && no_frame ? something_follows() : damaged(ZSTD_getErrorName(outcome));
      }
      begin_ += from.pos;
      in_frame_ = outcome != 0;
      after_frame_ |= !in_frame_;
      pending_output_ = in_frame_ && into.pos == capacity;
      if (into.pos > 0) return into.pos;
    }
  }

 private:
  ZSTD_DStream* stream_ = ZSTD_createDStream();
  bool in_frame_ = false;
  bool after_frame_ = false;     // a whole frame was read
  bool pending_output_ = false;  // the output was full, so more may come without more input
};

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const Input& input, std::uint64_t offset) {
  KIN_TRY(File file, File::open_to_read(input.path));
  switch (input.type.compression) {
    case Compression::kNone: {
      KIN_TRY(const std::uint64_t size, file.size());
      if (offset > size) {
        return Error{Code::kDataLoss,
                     fmt::format("{} has become shorter since it was first read", input.shown_as)};
      }
      return std::unique_ptr<ByteSource>(
          std::make_unique<PlainSource>(std::move(file), offset, size));
    }
    case Compression::kGzip:
      return std::unique_ptr<ByteSource>(
          std::make_unique<GzipSource>(std::move(file), input.shown_as));
    case Compression::kZstd:
      return std::unique_ptr<ByteSource>(
          std::make_unique<ZstdSource>(std::move(file), input.shown_as));
  }
  KIN_UNREACHABLE();
}

}  // namespace kin::data
