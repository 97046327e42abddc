#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "data/files/packed_source.h"

namespace kin::data {
namespace {

class ZstdSource : public PackedSource {
 public:
  ZstdSource(File file, std::string shown_as) : PackedSource(std::move(file), std::move(shown_as)) {
    // The largest window that --long and --ultra use; the default refuses more than 128 MiB.
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

std::unique_ptr<ByteSource> zstd_source(File file, std::string shown_as) {
  return std::make_unique<ZstdSource>(std::move(file), std::move(shown_as));
}

}  // namespace kin::data
