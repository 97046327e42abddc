#include <zlib.h>

#include <algorithm>

#include "data/files/packed_source.h"

namespace kin::data {
namespace {

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
  // Skips zeros after a member, which pad files to whole blocks. True if another member seems to
  // follow.
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

}  // namespace

std::unique_ptr<ByteSource> gzip_source(File file, std::string shown_as) {
  return std::make_unique<GzipSource>(std::move(file), std::move(shown_as));
}

}  // namespace kin::data
