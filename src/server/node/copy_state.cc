#include "server/node/copy_state.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/disk.h"
#include "base/file.h"
#include "base/format_head.h"
#include "base/hash.h"

namespace kin::server {
namespace {

namespace fs = std::filesystem;

constexpr FormatHead kHead{.name = "the state of a copy of a shard", .magic = "KCOP"};
constexpr std::uint16_t kVersion = 1;
constexpr const char* kStateName = "copy.state";

}  // namespace

std::string encode(const CopyState& state) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint8_t>(state.role));
  append_le(out, state.holder);
  append_le(out, static_cast<std::uint8_t>((state.made_here ? 1 : 0) | (state.clean ? 2 : 0)));
  const router::LogPosition clean = state.clean.value_or(router::LogPosition{});
  append_le(out, clean.term);
  append_le(out, clean.number);
  append_le(out, checksum(out));
  return out;
}

Result<CopyState> decode_copy_state(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  const auto role = in.read<std::uint8_t>();
  CopyState state{.holder = in.read<std::uint64_t>()};
  const auto flags = in.read<std::uint8_t>();
  router::LogPosition clean{.term = in.read<std::uint64_t>()};
  clean.number = in.read<std::uint64_t>();
  if (!in.ok() || !in.rest().empty() || role < 1 || role > 4 || flags > 3) return kHead.damaged();
  state.role = static_cast<CopyState::Role>(role);
  state.made_here = (flags & 1) != 0;
  if ((flags & 2) != 0) state.clean = clean;
  const bool one_spelling = state.clean || clean == router::LogPosition{};
  if (!one_spelling) return kHead.damaged();
  return state;
}

Result<std::optional<CopyState>> read_copy_state(const fs::path& folder) {
  KIN_TRY(const bool there, file_exists(folder / kStateName));
  if (!there) return std::optional<CopyState>();
  KIN_TRY(const std::string bytes, read_file(folder / kStateName));
  auto state = decode_copy_state(bytes);
  if (!state) return with_context((folder / kStateName).string(), state.error());
  return std::optional(*state);
}

Status write_copy_state(const fs::path& folder, const CopyState& state) {
  KIN_RETURN_IF_ERROR(system_disk().make_folder(folder));
  return write_file_atomically(folder / kStateName, encode(state));
}

Status remove_copy_state(const fs::path& folder) {
  std::error_code problem;
  fs::remove(folder / kStateName, problem);
  if (problem)
    return Error{Code::kUnavailable, fmt::format("{}: {}", folder.string(), problem.message())};
  return sync_folder(folder);
}

}  // namespace kin::server
