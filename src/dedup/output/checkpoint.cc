#include "dedup/output/checkpoint.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "dedup/work_folder.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::uint32_t kMagic = 0x50434b4b;  // "KKCP"
constexpr std::uint16_t kVersion = 2;

// A table beside a checkpoint: version and checksum in front of its bytes.
std::string seal(std::string_view bytes) {
  std::string sealed;
  append_le(sealed, kMagic);
  append_le(sealed, kVersion);
  append_le(sealed, checksum(bytes));
  return sealed.append(bytes);
}

Result<std::string_view> unseal(std::string_view sealed, std::string_view what) {
  ByteReader reader(sealed);
  const auto magic = reader.read<std::uint32_t>();
  const auto version = reader.read<std::uint16_t>();
  const auto sum = reader.read<std::uint64_t>();
  if (!reader.ok() || magic != kMagic || version != kVersion || sum != checksum(reader.rest())) {
    return Error{Code::kDataLoss,
                 fmt::format("the {} of the last run cannot be used: its version or checksum does "
                             "not hold (run again without --resume)",
                             what)};
  }
  return reader.rest();
}

Status save_table(const fs::path& path, std::string_view bytes) {
  return write_file_atomically(path, seal(bytes));
}

Result<std::string> load_table(const fs::path& path) {
  KIN_TRY(std::string sealed, read_file(path));
  KIN_TRY(const std::string_view bytes, unseal(sealed, path.filename().string()));
  return std::string(bytes);
}

void append_dataset(std::string& bytes, const data::ScanMemory& memory) {
  append_le(bytes, memory.rows.value_or(~std::uint64_t{0}));
  append_le(bytes, static_cast<std::uint32_t>(memory.first_rows.size()));
  for (const std::uint64_t row : memory.first_rows) append_le(bytes, row);
  append_le(bytes, static_cast<std::uint32_t>(memory.skipped.rows.size()));
  for (const RecordId row : memory.skipped.rows) append_le(bytes, row);
  append_le(bytes, static_cast<std::uint32_t>(memory.skipped.messages.size()));
  for (const auto& [row, message] : memory.skipped.messages) {
    append_le(bytes, row);
    append_le(bytes, static_cast<std::uint32_t>(message.size()));
    bytes += message;
  }
}

data::ScanMemory read_dataset(ByteReader& reader) {
  data::ScanMemory memory;
  const auto rows = reader.read<std::uint64_t>();
  if (rows != ~std::uint64_t{0}) memory.rows = rows;
  // A count is checked by reading up to the end, so a damaged count cannot read further.
  const auto files = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < files && reader.ok(); ++i)
    memory.first_rows.push_back(reader.read<std::uint64_t>());
  memory.skipped.count = reader.read<std::uint32_t>();
  for (std::uint64_t i = 0; i < memory.skipped.count && reader.ok(); ++i) {
    memory.skipped.rows.push_back(reader.read<RecordId>());
  }
  const auto messages = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < messages && reader.ok(); ++i) {
    const auto row = reader.read<RecordId>();
    const auto length = reader.read<std::uint32_t>();
    memory.skipped.messages.emplace_back(row, reader.read_bytes(length));
  }
  return memory;
}

fs::path checkpoint_path(const fs::path& folder) {
  return folder / kCheckpointName;
}

constexpr const char* kOrder = "order";
constexpr const char* kSimHashes = "simhashes";
constexpr const char* kSources = "sources";
constexpr const char* kSeen = "seen";

fs::path table_path(const fs::path& folder, const char* name, std::size_t records) {
  return folder / fmt::format("{}.{}", name, records);
}

// Removes the tables of earlier checkpoints.
void remove_old_tables(const fs::path& folder, std::size_t records) {
  std::error_code ignored;  // leftovers are removed with the folder
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path name = entry.path().filename();
    for (const char* table : {kOrder, kSimHashes, kSources, kSeen}) {
      if (name.stem() != table || !name.has_extension()) continue;
      if (name != table_path(folder, table, records).filename()) fs::remove(entry.path(), ignored);
    }
  }
}

std::array<Spill*, 4> spills_of(Scan& scan) {
  return {&scan.exact, &scan.words, &scan.bands, &scan.chunks};
}

}  // namespace

std::string encode(const Checkpoint& checkpoint) {
  std::string bytes;
  append_le(bytes, checkpoint.stage);
  append_le(bytes, checkpoint.run);
  append_le(bytes, checkpoint.position.file);
  append_le(bytes, checkpoint.position.offset);
  append_le(bytes, checkpoint.position.line);
  append_le(bytes, checkpoint.position.row);
  append_le(bytes, static_cast<std::uint8_t>(checkpoint.scanned));
  for (const std::uint64_t length : checkpoint.spill_lengths) append_le(bytes, length);
  for (const std::uint64_t count : checkpoint.counts) append_le(bytes, count);
  for (const std::uint64_t count : checkpoint.decided) append_le(bytes, count);
  append_dataset(bytes, checkpoint.dataset);
  append_le(bytes, static_cast<std::uint32_t>(checkpoint.found.size()));
  for (const bool one : checkpoint.found) append_le(bytes, static_cast<std::uint8_t>(one));
  append_digests(bytes, checkpoint.digests);
  return seal(bytes);
}

Result<Checkpoint> decode_checkpoint(std::string_view sealed) {
  KIN_TRY(const std::string_view bytes, unseal(sealed, "checkpoint"));
  ByteReader reader(bytes);
  Checkpoint checkpoint;
  const auto stage = reader.read<std::uint8_t>();
  checkpoint.run = reader.read<std::uint64_t>();
  checkpoint.position.file = reader.read<std::uint32_t>();
  checkpoint.position.offset = reader.read<std::uint64_t>();
  checkpoint.position.line = reader.read<std::uint64_t>();
  checkpoint.position.row = reader.read<std::uint64_t>();
  checkpoint.scanned = reader.read<std::uint8_t>() != 0;
  for (std::uint64_t& length : checkpoint.spill_lengths) length = reader.read<std::uint64_t>();
  for (std::uint64_t& count : checkpoint.counts) count = reader.read<std::uint64_t>();
  for (std::uint64_t& count : checkpoint.decided) count = reader.read<std::uint64_t>();
  checkpoint.dataset = read_dataset(reader);
  const auto columns = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < columns && reader.ok(); ++i)
    checkpoint.found.push_back(reader.read<std::uint8_t>() != 0);
  checkpoint.digests = read_digests(reader);
  if (!reader.ok() || !reader.rest().empty() ||
      stage > static_cast<std::uint8_t>(Checkpoint::Stage::kDecided)) {
    return Error{Code::kDataLoss, "the checkpoint is cut short (run again without --resume)"};
  }
  checkpoint.stage = static_cast<Checkpoint::Stage>(stage);
  return checkpoint;
}

Status save_scan(const fs::path& folder, Checkpoint checkpoint, Scan& scan) {
  const std::array<Spill*, 4> spills = spills_of(scan);
  for (std::size_t i = 0; i < spills.size(); ++i) {
    KIN_TRY(checkpoint.spill_lengths[i], spills[i]->checkpoint());
  }
  if (scan.signatures) KIN_RETURN_IF_ERROR(scan.signatures->flush());
  const std::size_t records = checkpoint.position.row;
  // A table is named by the rows it covers, so that the old ones stay whole until the checkpoint
  // that needs the new ones is in place.
  KIN_RETURN_IF_ERROR(save_table(table_path(folder, kOrder, records), scan.order.encode(records)));
  KIN_RETURN_IF_ERROR(save_table(table_path(folder, kSimHashes, records),
                                 scan.simhashes.empty() ? "" : scan.simhashes.encode(records)));
  KIN_RETURN_IF_ERROR(
      save_table(table_path(folder, kSources, records), scan.sources.encode(records)));
  KIN_RETURN_IF_ERROR(save_table(table_path(folder, kSeen, records),
                                 scan.left_out.empty() ? "" : scan.left_out.encode(records)));
  checkpoint.counts = scan.counts.values();
  checkpoint.stage = Checkpoint::Stage::kScanning;
  KIN_RETURN_IF_ERROR(write_file_atomically(checkpoint_path(folder), encode(checkpoint)));
  remove_old_tables(folder, records);
  return Done{};
}

Status restore_scan(const fs::path& folder, const Checkpoint& checkpoint, Scan& scan) {
  const std::array<Spill*, 4> spills = spills_of(scan);
  for (std::size_t i = 0; i < spills.size(); ++i)
    KIN_RETURN_IF_ERROR(spills[i]->reopen(checkpoint.spill_lengths[i]));
  const std::size_t records = checkpoint.position.row;
  KIN_TRY(const std::string order, load_table(table_path(folder, kOrder, records)));
  scan.order.decode(order);
  KIN_TRY(const std::string simhashes, load_table(table_path(folder, kSimHashes, records)));
  scan.simhashes.decode(simhashes);
  KIN_TRY(const std::string source_table, load_table(table_path(folder, kSources, records)));
  if (!scan.sources.decode(source_table))
    return Error{Code::kDataLoss, "the sources of the last run are cut short"};
  KIN_TRY(const std::string seen, load_table(table_path(folder, kSeen, records)));
  scan.left_out.decode(seen);
  scan.counts.restore(checkpoint.counts);
  return Done{};
}

std::string encode_removals(const std::vector<Removal>& removals) {
  std::string bytes;
  bytes.reserve(removals.size() * 13);
  for (const Removal& removal : removals) {
    append_le(bytes, removal.record);
    append_le(bytes, removal.kept);
    append_le(bytes, removal.similarity);
    append_le(bytes, removal.method);
  }
  return seal(bytes);
}

Result<std::vector<Removal>> decode_removals(std::string_view sealed) {
  KIN_TRY(const std::string_view bytes, unseal(sealed, "decisions"));
  std::vector<Removal> removals;
  ByteReader reader(bytes);
  while (!reader.rest().empty()) {
    Removal removal{};
    removal.record = reader.read<RecordId>();
    removal.kept = reader.read<RecordId>();
    removal.similarity = reader.read<float>();
    const auto method = reader.read<std::uint8_t>();
    if (!reader.ok() || method >= kMethods) {
      return Error{Code::kDataLoss,
                   "the decisions of the last run are damaged (run again without --resume)"};
    }
    removal.method = static_cast<Method>(method);
    removals.push_back(removal);
  }
  return removals;
}

Status save_decisions(const fs::path& folder, Checkpoint checkpoint,
                      const std::vector<Removal>& removals, const Sources& sources) {
  KIN_RETURN_IF_ERROR(write_file_atomically(folder / "removals", encode_removals(removals)));
  KIN_RETURN_IF_ERROR(save_table(folder / "sources", sources.encode(checkpoint.position.row)));
  checkpoint.stage = Checkpoint::Stage::kDecided;
  return write_file_atomically(checkpoint_path(folder), encode(checkpoint));
}

Result<std::vector<Removal>> restore_decisions(const fs::path& folder, const Checkpoint& checkpoint,
                                               Sources& sources) {
  KIN_TRY(const std::string source_table, load_table(folder / "sources"));
  if (!sources.decode(source_table))
    return Error{Code::kDataLoss, "the sources of the last run are cut short"};
  KIN_TRY(const std::string bytes, read_file(folder / "removals"));
  KIN_TRY(std::vector<Removal> removals, decode_removals(bytes));
  for (const Removal& removal : removals) {
    if (row_number(removal.record) >= checkpoint.position.row ||
        row_number(removal.kept) >= checkpoint.position.row) {
      return Error{Code::kDataLoss, "the decisions of the last run name rows that do not exist"};
    }
  }
  return removals;
}

Result<std::optional<Checkpoint>> load_checkpoint(const fs::path& folder, std::uint64_t run) {
  KIN_TRY(const bool found, file_exists(checkpoint_path(folder)));
  if (!found) return std::optional<Checkpoint>();
  KIN_TRY(const std::string bytes, read_file(checkpoint_path(folder)));
  KIN_TRY(Checkpoint checkpoint, decode_checkpoint(bytes));
  if (checkpoint.run != run) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format(
            "the checkpoint in {} is of another command, or of inputs that have changed since "
            "(run without --resume to start over)",
            folder.string())};
  }
  return std::optional(std::move(checkpoint));
}

std::uint64_t inputs_hash(const std::vector<data::Input>& inputs) {
  std::string all;
  for (const data::Input& input : inputs) {
    std::error_code ignored;  // a file without a time of change is identified by its size
    const auto changed = input.remote != nullptr
                             ? 0
                             : fs::last_write_time(input.path, ignored).time_since_epoch().count();
    all += fmt::format("{}\n{}\n{}\n", input.shown_as, input.bytes, changed);
    if (input.remote != nullptr) all += input.version + "\n";
  }
  return hash64(all);
}

}  // namespace kin::dedup
