#include <lzma.h>

#include <algorithm>

#include "data/files/packed_source.h"

namespace kin::data {
namespace {

class XzSource : public PackedSource {
 public:
  XzSource(File file, std::string shown_as) : PackedSource(std::move(file), std::move(shown_as)) {
    // Several streams, with zeros between them, are one file.
    constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
    started_ = lzma_stream_decoder(&stream_, kNoLimit, LZMA_CONCATENATED) == LZMA_OK;
  }
  ~XzSource() override { lzma_end(&stream_); }

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    if (!started_) return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
    while (!ended_) {
      KIN_TRY(const bool more, fill());
      if (!more && consumed_ == 0) return std::size_t{0};  // an empty file holds nothing
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed_.data() + begin_);
      stream_.avail_in = end_ - begin_;
      stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
      stream_.avail_out = capacity;
      const lzma_ret outcome = lzma_code(&stream_, more ? LZMA_RUN : LZMA_FINISH);
      begin_ = end_ - stream_.avail_in;
      ended_ = outcome == LZMA_STREAM_END;
      if (!ended_ && outcome != LZMA_OK) return problem(outcome);
      if (const std::size_t got = capacity - stream_.avail_out; got > 0) return got;
    }
    return std::size_t{0};
  }

 private:
  Error problem(lzma_ret outcome) const {
    switch (outcome) {
      case LZMA_MEM_ERROR:
      case LZMA_MEMLIMIT_ERROR:
        return Error{Code::kResourceExhausted, "no memory to unpack " + shown_as_};
      case LZMA_BUF_ERROR: return cut_short();
      case LZMA_FORMAT_ERROR: return damaged("not xz");
      case LZMA_OPTIONS_ERROR: return damaged("it uses options of xz that are not known here");
      default: return damaged("a checksum is wrong");
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool started_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> xz_source(File file, std::string shown_as) {
  return std::make_unique<XzSource>(std::move(file), std::move(shown_as));
}

}  // namespace kin::data
