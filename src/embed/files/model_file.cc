#include "embed/files/model_file.h"

#include "base/file.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "embed/files/terms.h"

namespace kin::embed::internal {
namespace {

constexpr std::size_t kVersionsBytes = 2 * sizeof(std::uint16_t);
constexpr std::size_t kSealBytes = sizeof(std::uint64_t);

}  // namespace

Error ModelFile::damaged(std::string_view why) const {
  return {Code::kDataLoss, fmt::format("not a {}: {}", what, why)};
}

std::string ModelFile::begin() const {
  std::string out(magic);
  append_le(out, version);
  append_le(out, kTermsVersion);
  return out;
}

void ModelFile::seal(std::string& bytes) {
  append_le(bytes, checksum(bytes));
}

Result<std::string_view> ModelFile::open(std::string_view bytes) const {
  if (!bytes.starts_with(magic)) return damaged("it does not begin with the right bytes");
  if (bytes.size() < magic.size() + kVersionsBytes + kSealBytes) return damaged("it is cut short");
  const std::string_view body = bytes.substr(0, bytes.size() - kSealBytes);
  ByteReader reader(body.substr(magic.size()));
  // Before the checksum: another version may have that in another place.
  const auto written = reader.read<std::uint16_t>();
  if (written != version)
    return damaged(fmt::format("its version is {}; this program reads {}", written, version));
  if (load_le<std::uint64_t>(bytes.data() + body.size()) != checksum(body))
    return damaged("its checksum is wrong");
  if (const auto terms = reader.read<std::uint16_t>(); terms != kTermsVersion)
    return damaged(
        fmt::format("its terms have version {}; this program has {}", terms, kTermsVersion));
  return reader.rest();
}

Result<std::string> read_model_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30;
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not a regular file, so it is not read", path.string())};
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (!problem && size > kMostBytes)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has {} bytes, more than the {} that a model may have",
                             path.string(), size, kMostBytes)};
  // Says why, if there is no such file.
  return read_file(path);
}

}  // namespace kin::embed::internal
