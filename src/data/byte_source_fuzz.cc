// Unpacks arbitrary bytes with buffers of several sizes: the outcome must be the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "data/byte_source.h"

namespace {

using namespace kin::data;

void require(bool truth) {
  if (!truth) std::abort();
}

// The unpacked bytes, or the error alone: how much comes before an error depends on the buffer.
std::string outcome(const Input& input, std::size_t capacity) {
  constexpr std::size_t kEnough = 1 << 16;
  const auto source = ByteSource::open(input).value();
  std::string all;
  std::string buffer(capacity, '\0');
  while (all.size() < kEnough) {
    const auto got = source->read(buffer.data(), capacity);
    if (!got) return got.error().message;
    require(*got <= capacity);
    if (*got == 0) {
      require(source->consumed() == input.bytes);
      return all;
    }
    all.append(buffer, 0, *got);
  }
  return all.substr(0, kEnough);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kin::TemporaryFolder folder = kin::TemporaryFolder::create().value();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto path = folder.path() / "input";
  {
    kin::File file = kin::File::create(path).value();
    require(file.write(bytes).ok());
  }
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const Input input{path, {Format::kJsonl, compression}, size, "input", {}};
    const std::string whole = outcome(input, 4096);
    if (whole.size() >= 1 << 16) continue;
    require(outcome(input, 1) == whole && outcome(input, 61) == whole);
  }
  return 0;
}
