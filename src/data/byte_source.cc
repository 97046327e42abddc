#include "data/byte_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "data/files/packed_source.h"
#include "data/text/array_lines.h"

namespace kin::data {
namespace {

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

// The elements of an array as lines.
class ArraySource : public ByteSource {
 public:
  ArraySource(std::unique_ptr<ByteSource> bytes, ArrayLines lines)
      : bytes_(std::move(bytes)), lines_(std::move(lines)) {}

  Result<std::size_t> read(char* to, std::size_t capacity) override {
    KIN_TRY(const std::size_t got, bytes_->read(to, capacity));
    KIN_RETURN_IF_ERROR(got == 0 ? lines_.finish() : lines_.turn(to, got));
    return got;
  }
  std::uint64_t consumed() const override { return bytes_->consumed(); }

 private:
  std::unique_ptr<ByteSource> bytes_;
  ArrayLines lines_;
};

Result<std::unique_ptr<ByteSource>> open_plain(File file, const Input& input,
                                               std::uint64_t offset) {
  KIN_TRY(const std::uint64_t size, file.size());
  if (offset > size) {
    return Error{Code::kDataLoss,
                 fmt::format("{} has become shorter since it was first read", input.shown_as)};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(file), offset, size));
}

Result<std::unique_ptr<ByteSource>> open_bytes(const Input& input, std::uint64_t offset) {
  KIN_TRY(File file, open_input(input));
  switch (input.type.compression) {
    case Compression::kNone: return open_plain(std::move(file), input, offset);
    case Compression::kGzip: return gzip_source(std::move(file), input.shown_as);
    case Compression::kZstd: return zstd_source(std::move(file), input.shown_as);
    case Compression::kBzip2: return bzip2_source(std::move(file), input.shown_as);
    case Compression::kXz: return xz_source(std::move(file), input.shown_as);
  }
  KIN_UNREACHABLE();
}

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::open(const Input& input, std::uint64_t offset) {
  if (!input.array) return open_bytes(input, offset);
  ArrayLines lines(input.shown_as);
  if (offset > 0) {
    // The byte before decides what the line end at `offset` stands for.
    KIN_TRY(const auto before, open_bytes(input, offset - 1));
    char last = '\0';
    KIN_RETURN_IF_ERROR(before->read(&last, 1));
    lines.go_on(offset, last);
  }
  KIN_TRY(auto bytes, open_bytes(input, offset));
  return std::unique_ptr<ByteSource>(
      std::make_unique<ArraySource>(std::move(bytes), std::move(lines)));
}

}  // namespace kin::data
