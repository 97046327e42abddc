#include "embed/files/model_file.h"

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

}  // namespace kin::embed::internal
