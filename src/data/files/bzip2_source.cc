#include <bzlib.h>

#include <algorithm>

#include "data/files/packed_source.h"

namespace kin::data {
namespace {

class Bzip2Source : public PackedSource {
 public:
  using PackedSource::PackedSource;
  ~Bzip2Source() override {
    if (in_stream_) BZ2_bzDecompressEnd(&stream_);
  }

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    for (;;) {
      KIN_TRY(const bool more, fill());
      if (!more && in_stream_ && !pending_output_) return cut_short();
      if (!more && !in_stream_) return std::size_t{0};
      KIN_RETURN_IF_ERROR(start_stream());
      KIN_TRY(const std::size_t got, unpack(to, capacity));
      if (got > 0) return got;
    }
  }

 private:
  Status start_stream() {
    if (in_stream_) return Done{};
    constexpr char kFirstOfStream = 'B';
    if (after_stream_ && packed_[begin_] != kFirstOfStream) return something_follows();
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK)
      return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
    in_stream_ = true;
    return Done{};
  }

  Result<std::size_t> unpack(char* to, std::size_t capacity) {
    capacity = std::min<std::size_t>(capacity, 1 << 30);
    stream_.next_in = packed_.data() + begin_;
    stream_.avail_in = static_cast<unsigned>(end_ - begin_);
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(capacity);
    const int outcome = BZ2_bzDecompress(&stream_);
    begin_ = end_ - stream_.avail_in;
    pending_output_ = stream_.avail_out == 0;
    const std::size_t got = capacity - stream_.avail_out;
    if (outcome == BZ_STREAM_END) {
      BZ2_bzDecompressEnd(&stream_);
      in_stream_ = false;
      after_stream_ = true;
    } else if (outcome == BZ_MEM_ERROR) {
      return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
    } else if (outcome != BZ_OK) {
      return damaged(outcome == BZ_DATA_ERROR_MAGIC ? "not bzip2" : "a checksum is wrong");
    }
    return got;
  }

  bz_stream stream_{};
  bool in_stream_ = false;
  bool after_stream_ = false;    // a whole stream was read
  bool pending_output_ = false;  // the output was full, so more may come without more input
};

}  // namespace

std::unique_ptr<ByteSource> bzip2_source(File file, std::string shown_as) {
  return std::make_unique<Bzip2Source>(std::move(file), std::move(shown_as));
}

}  // namespace kin::data
