#include "dedup/output/input_digest.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/hash.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kPiece = 4 << 20;

Status note_file(const data::Input& input, InputDigest& digest) {
  // The version of a remote file identifies its bytes.
  if (input.remote != nullptr) {
    digest.file_number = hash64(input.version);
    return Done{};
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  struct stat status{};
  if (::stat(input.path.c_str(), &status) != 0) return system_error("read", input.path, errno);
  digest.file_number = status.st_ino;
  digest.status_changed = status.st_ctim.tv_sec * kNanoseconds + status.st_ctim.tv_nsec;
  return Done{};
}

// Adds the bytes of the file up to `end`.
Status extend(const data::Input& input, std::uint64_t end, InputDigest& digest) {
  if (end == digest.bytes) return Done{};
  if (input.remote != nullptr) {
    digest.bytes = end;
    return Done{};
  }
  KIN_TRY(const File file, File::open_to_read(input.path));
  std::string piece(std::min(kPiece, end - digest.whole_bytes), '\0');
  while (digest.whole_bytes + kPiece <= end) {
    KIN_RETURN_IF_ERROR(file.read_at(digest.whole_bytes, piece.data(), kPiece));
    digest.whole_hash = hash64(piece, digest.whole_hash);
    digest.whole_bytes += kPiece;
  }
  piece.resize(end - digest.whole_bytes);
  KIN_RETURN_IF_ERROR(file.read_at(digest.whole_bytes, piece.data(), piece.size()));
  digest.hash = hash64(piece, digest.whole_hash);
  digest.bytes = end;
  return Done{};
}

std::uint64_t bytes_read(const data::Input& input, std::uint32_t number,
                         const data::Position& position) {
  if (number < position.file) return input.bytes;
  const bool plain = input.type.compression == data::Compression::kNone &&
                     input.type.format != data::Format::kParquet;
  return plain ? std::min(position.offset, input.bytes) : input.bytes;
}

}  // namespace

Status extend_digests(std::span<const data::Input> inputs, const data::Position& position,
                      std::vector<InputDigest>& digests) {
  const std::size_t files = std::min<std::size_t>(position.file + std::size_t{1}, inputs.size());
  digests.resize(std::max(digests.size(), files));
  for (std::uint32_t i = 0; i < files; ++i) {
    const std::uint64_t end = bytes_read(inputs[i], i, position);
    if (end == digests[i].bytes && end > 0) continue;
    KIN_RETURN_IF_ERROR(note_file(inputs[i], digests[i]));
    KIN_RETURN_IF_ERROR(extend(inputs[i], end, digests[i]));
  }
  return Done{};
}

Status verify_digests(std::span<const data::Input> inputs, std::span<const InputDigest> digests) {
  for (std::size_t i = 0; i < std::min(inputs.size(), digests.size()); ++i) {
    InputDigest now;
    KIN_RETURN_IF_ERROR(note_file(inputs[i], now));
    const bool untouched = now.file_number == digests[i].file_number &&
                           now.status_changed == digests[i].status_changed;
    if (untouched) continue;
    const bool remote = inputs[i].remote != nullptr;
    const Status read = remote ? Status(Done{}) : extend(inputs[i], digests[i].bytes, now);
    if (!remote && read && now.hash == digests[i].hash) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} has other contents than when the last run read it (run without "
                             "--resume to start over)",
                             inputs[i].shown_as)};
  }
  return Done{};
}

void append_digests(std::string& bytes, std::span<const InputDigest> digests) {
  append_le(bytes, static_cast<std::uint32_t>(digests.size()));
  for (const InputDigest& digest : digests) {
    append_le(bytes, digest.bytes);
    append_le(bytes, digest.whole_bytes);
    append_le(bytes, digest.whole_hash);
    append_le(bytes, digest.hash);
    append_le(bytes, digest.file_number);
    append_le(bytes, digest.status_changed);
  }
}

std::vector<InputDigest> read_digests(ByteReader& reader) {
  std::vector<InputDigest> digests;
  const auto count = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    InputDigest digest;
    digest.bytes = reader.read<std::uint64_t>();
    digest.whole_bytes = reader.read<std::uint64_t>();
    digest.whole_hash = reader.read<std::uint64_t>();
    digest.hash = reader.read<std::uint64_t>();
    digest.file_number = reader.read<std::uint64_t>();
    digest.status_changed = reader.read<std::int64_t>();
    digests.push_back(digest);
  }
  return digests;
}

}  // namespace kin::dedup
