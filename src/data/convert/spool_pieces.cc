#include "data/convert/spool_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/file.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kAtOnce = 256 << 10;

// The end of the line that has the byte before `at`; `size` if no line ends there.
Result<std::uint64_t> line_end(const File& file, std::uint64_t at, std::uint64_t size) {
  std::string buffer(kAtOnce, '\0');
  for (--at; at < size; at += kAtOnce) {
    const std::uint64_t count = std::min(kAtOnce, size - at);
    KIN_RETURN_IF_ERROR(file.read_at(at, buffer.data(), count));
    const std::size_t found = buffer.find('\n');
    if (found < count) return at + found + 1;
  }
  return size;
}

Result<std::vector<std::uint64_t>> begins_of(const File& file, std::uint64_t piece_bytes) {
  KIN_TRY(const std::uint64_t size, file.size());
  std::vector<std::uint64_t> begins;
  for (std::uint64_t begin = 0; begin < size || begins.empty();) {
    begins.push_back(begin);
    if (size - begin <= piece_bytes) break;
    KIN_TRY(begin, line_end(file, begin + piece_bytes, size));
  }
  return begins;
}

Status copy_tail(const File& from, std::uint64_t begin, const fs::path& path) {
  KIN_TRY(const std::uint64_t size, from.size());
  KIN_TRY(File to, File::create(path));
  std::string buffer(kAtOnce, '\0');
  for (std::uint64_t at = begin; at < size; at += kAtOnce) {
    const std::uint64_t count = std::min(kAtOnce, size - at);
    KIN_RETURN_IF_ERROR(from.read_at(at, buffer.data(), count));
    KIN_RETURN_IF_ERROR(to.write({buffer.data(), count}));
  }
  return to.close();
}

}  // namespace

Result<std::vector<fs::path>> cut_into_pieces(const fs::path& file, std::uint64_t piece_bytes) {
  KIN_TRY(File whole, File::open_to_update(file));
  KIN_TRY(const std::vector<std::uint64_t> begins,
          begins_of(whole, std::max<std::uint64_t>(piece_bytes, 1)));
  std::vector<fs::path> pieces(begins.size());
  pieces[0] = file;
  // From the end, so that the whole gets shorter by every piece.
  for (std::size_t i = begins.size() - 1; i > 0; --i) {
    pieces[i] = file.parent_path() /
                fmt::format("{}-{}{}", file.stem().string(), i, file.extension().string());
    KIN_RETURN_IF_ERROR(copy_tail(whole, begins[i], pieces[i]));
    KIN_RETURN_IF_ERROR(whole.truncate(begins[i]));
  }
  KIN_RETURN_IF_ERROR(whole.close());
  return pieces;
}

}  // namespace kin::data
