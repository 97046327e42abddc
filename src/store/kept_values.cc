#include "store/kept_values.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "store/signatures/store_file.h"

namespace kin::store {
namespace {

// Values near each other are read with one call of up to kRunBytes. Up to kGapBytes of other values
// between them cost less than a second call.
constexpr std::uint64_t kRunBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kGapBytes = std::uint64_t{32} << 10;
// The first read of a value whose length is not known yet.
constexpr std::uint64_t kGuessBytes = 4096;

// Multiplying by an odd number is a bijection that spreads dense ids evenly over the top bits.
constexpr std::uint32_t kSpread = 0x9e3779b1U;
constexpr std::uint32_t inverse(std::uint32_t odd) {
  std::uint32_t x = odd;
  // Newton's iteration doubles the number of correct low bits, from 3 on: 5 rounds are more than
  // enough for 32 bits.
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}
constexpr std::uint32_t kGather = inverse(kSpread);
static_assert(kSpread * kGather == 1);

// The value whose frame begins at `at` of the write buffer. Only data from disk needs its checksum
// verified.
std::optional<std::string_view> buffered_value(std::string_view buffer, std::uint64_t at,
                                               RecordId id) {
  if (at > buffer.size() || buffer.size() - at < kFrameHeaderBytes) return std::nullopt;
  const FrameHeader header = decode_frame_header(buffer.data() + at);
  const std::string_view rest = buffer.substr(at + kFrameHeaderBytes);
  if (header.id != id || header.length > rest.size()) return std::nullopt;
  return rest.substr(0, header.length);
}

// Asks for large pages of the system, whose first touch is much cheaper.
void use_large_pages(std::string& buffer) {
  constexpr std::size_t kLarge = 8 << 20;
  constexpr std::uintptr_t kPage = 4096;
  if (buffer.capacity() < kLarge) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(buffer.data()) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(buffer.data()) + buffer.capacity();
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice only
}

}  // namespace

KeptValues::KeptValues(const KeptValuesOptions& options, std::unique_ptr<DiskFile> file)
    : options_(options), file_(std::move(file)), tables_(std::size_t{1} << kTableBits) {
  buffer_.reserve(options_.write_buffer_bytes);
  use_large_pages(buffer_);
}

Result<std::unique_ptr<KeptValues>> KeptValues::open(const KeptValuesOptions& options) {
  const StorePlace place{options.disk, options.path, options.temporary_parent};
  KIN_TRY(auto file, open_store_file(place, kValuesFileName));
  // A failed start leaves opened_ false, so that the destructor does not overwrite existing data.
  std::unique_ptr<KeptValues> values(new KeptValues(options, std::move(file)));
  auto started = values->start();
  if (!started.ok() && options.path) return with_context(options.path->string(), started.error());
  if (!started.ok()) return started.error();
  values->opened_ = true;
  return values;
}

KeptValues::~KeptValues() {
  if (opened_)
    (void)flush();  // a destructor cannot report; the index of the last flush stays whole
}

Status KeptValues::start() {
  KIN_TRY(const std::uint64_t size, file_->size());
  std::string header(std::min<std::uint64_t>(size, kValuesHeaderBytes), '\0');
  KIN_RETURN_IF_ERROR(file_->read_at(0, header.data(), header.size()));
  // A temporary store has no name, so nothing can be left of an earlier one.
  bool has_index = false;
  if (options_.path) {
    KIN_TRY(has_index, options_.disk->exists(*options_.path / kValueIndexFileName));
  }
  if (!has_index) return start_empty(header, size);
  if (size == 0)
    return Error{Code::kDataLoss, fmt::format("{} is missing or empty", kValuesFileName)};
  KIN_RETURN_IF_ERROR(decode_values_header(header));
  // A process that died may not have synced the name of the index that we see.
  KIN_RETURN_IF_ERROR(options_.disk->sync_folder(*options_.path));
  return load_index();
}

// The first index is written right after the header, so a file without one holds at most a part of
// a header, unless its index was lost or the file is not ours.
Status KeptValues::start_empty(std::string_view contents, std::uint64_t size) {
  if (!is_unfinished_header(contents, kValuesMagic))
    KIN_RETURN_IF_ERROR(decode_values_header(contents));
  if (size > kValuesHeaderBytes)
    return Error{Code::kDataLoss, fmt::format("{} is missing", kValueIndexFileName)};
  KIN_RETURN_IF_ERROR(file_->write_at(0, encode_values_header()));
  // An index on the device without its data file would be taken for a loss.
  if (options_.path) KIN_RETURN_IF_ERROR(options_.disk->sync_folder(*options_.path));
  written_ = kValuesHeaderBytes;
  changed_ = true;
  return flush();
}

Status KeptValues::load_index() {
  KIN_TRY(const auto index, options_.disk->open_to_read(*options_.path / kValueIndexFileName));
  KIN_TRY(const std::uint64_t index_bytes, index->size());
  std::string bytes(std::min<std::uint64_t>(kValueIndexHeaderBytes, index_bytes), '\0');
  KIN_RETURN_IF_ERROR(index->read_at(0, bytes.data(), bytes.size()));
  KIN_TRY(const ValueIndexHeader header, decode_index_header(bytes));
  // Block by block: two copies of the index of many values may not fit into memory.
  std::uint64_t at = kValueIndexHeaderBytes;
  for (std::uint64_t left = header.entries; left > 0;) {
    const std::size_t block = std::min<std::uint64_t>(left, kIndexBlock);
    bytes.resize(index_block_bytes(block));
    KIN_RETURN_IF_ERROR(index->read_at(at, bytes.data(), bytes.size()));
    KIN_TRY(const auto entries, decode_index_block(bytes, header));
    for (const IndexEntry& entry : entries) remember(entry.id, entry.offset);
    at += bytes.size();
    left -= block;
  }
  // Bytes after it were appended after the last flush. They are not in the index, and are
  // overwritten.
  written_ = header.data_bytes;
  return Done{};
}

Status KeptValues::append(RecordId id, std::string_view value) {
  if (id == kNoRecord) return Error{Code::kInvalidArgument, "a value needs the id of a record"};
  if (value.size() > kMaxValueBytes) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("the value of record {} has {} bytes, more than the {} that can be kept",
                    row_number(id), value.size(), kMaxValueBytes)};
  }
  // The checksum is computed before the lock is taken, so that appends of several threads overlap.
  const std::string header = encode_frame_header(id, value);
  const std::unique_lock lock(mutex_);
  KIN_RETURN_IF_ERROR(check_writable());
  const std::size_t frame = header.size() + value.size();
  if (buffer_.size() + frame > options_.write_buffer_bytes) KIN_RETURN_IF_ERROR(write_buffer_out());
  const std::uint64_t offset = written_ + buffer_.size();
  // A slot has 40 bits for the offset.
  if (offset >> Table::kPayloadBits != 0) {
    return Error{Code::kResourceExhausted, "a store of values holds at most 1 TiB"};
  }
  // A value that never fits into the buffer goes straight to the file; the buffer is empty here.
  if (frame > options_.write_buffer_bytes) {
    KIN_RETURN_IF_ERROR(file_->write_at(offset, header));
    KIN_RETURN_IF_ERROR(file_->write_at(offset + header.size(), value));
    written_ += frame;
  } else {
    buffer_.append(header).append(value);
  }
  remember(id, offset);
  changed_ = true;
  return Done{};
}

Status KeptValues::write_buffer_out() {
  KIN_RETURN_IF_ERROR(file_->write_at(written_, buffer_));
  written_ += buffer_.size();
  buffer_.clear();
  return Done{};
}

void KeptValues::remember(RecordId id, std::uint64_t offset) {
  const std::uint32_t spread = static_cast<std::uint32_t>(id) * kSpread;
  Table& table = tables_[spread >> kTagBits];
  const std::uint32_t tag = spread & ((1U << kTagBits) - 1);
  // Ids map to tags one to one, so there is at most one slot.
  if (const auto there = table.find(tag); !there.empty()) {
    table.replace(there.front(), offset);
    return;
  }
  table.insert(tag, offset);
  ++count_;
}

std::optional<std::uint64_t> KeptValues::offset_of(RecordId id) const {
  const std::uint32_t spread = static_cast<std::uint32_t>(id) * kSpread;
  const auto there = tables_[spread >> kTagBits].find(spread & ((1U << kTagBits) - 1));
  if (there.empty() || id == kNoRecord) return std::nullopt;
  return Table::payload_of(there.front());
}

Result<std::optional<std::string>> KeptValues::get(RecordId id) const {
  const std::shared_lock lock(mutex_);
  const auto offset = offset_of(id);
  if (!offset) return std::optional<std::string>();
  auto value = read_value({*offset, id});
  if (value.ok()) return std::optional<std::string>(std::move(*value));
  read_errors_.fetch_add(1, std::memory_order_relaxed);
  return value.error();
}

// The value whose frame begins at `at` of `bytes`, if all of it is there and right.
std::optional<std::string_view> KeptValues::value_in(std::string_view bytes, std::uint64_t at,
                                                     RecordId id) const {
  if (at > bytes.size() || bytes.size() - at < kFrameHeaderBytes) return std::nullopt;
  const FrameHeader header = decode_frame_header(bytes.data() + at);
  const std::string_view rest = bytes.substr(at + kFrameHeaderBytes);
  if (header.length > rest.size() || !frame_holds(header, id, rest.substr(0, header.length)))
    return std::nullopt;
  return rest.substr(0, header.length);
}

Result<std::string> KeptValues::read_value(Wanted wanted) const {
  const Error damaged{Code::kDataLoss,
                      fmt::format("the kept value of record {} is damaged", row_number(wanted.id))};
  // Not written out yet.
  if (wanted.offset >= written_) {
    const auto value = value_in(buffer_, wanted.offset - written_, wanted.id);
    if (!value) return damaged;
    return std::string(*value);
  }
  // The length is in the frame's header. Reading a guess with it avoids a second read for short
  // values.
  const std::uint64_t available = written_ - wanted.offset;
  std::string bytes(std::min(available, kGuessBytes), '\0');
  if (bytes.size() < kFrameHeaderBytes) return damaged;
  if (!file_->read_at(wanted.offset, bytes.data(), bytes.size()).ok()) {
    bytes.resize(kFrameHeaderBytes);  // the bytes after the value may be the unreadable ones
    KIN_RETURN_IF_ERROR(file_->read_at(wanted.offset, bytes.data(), bytes.size()));
  }
  const std::uint64_t frame = kFrameHeaderBytes + decode_frame_header(bytes.data()).length;
  // A damaged length must not make us allocate gibibytes.
  if (frame > available || frame > kFrameHeaderBytes + kMaxValueBytes) return damaged;
  const std::size_t have = bytes.size();
  bytes.resize(std::max<std::uint64_t>(have, frame));
  KIN_RETURN_IF_ERROR(
      file_->read_at(wanted.offset + have, bytes.data() + have, bytes.size() - have));
  const auto value = value_in(bytes, 0, wanted.id);
  if (!value) return damaged;
  bytes.resize(frame);
  bytes.erase(0, kFrameHeaderBytes);
  return bytes;
}

void KeptValues::get_batch(std::span<const RecordId> ids,
                           const std::function<void(RecordId, std::string_view)>& visit) const {
  const std::shared_lock lock(mutex_);
  std::vector<Wanted> wanted;
  wanted.reserve(ids.size());
  for (const RecordId id : ids) {
    if (const auto offset = offset_of(id)) wanted.push_back({*offset, id});
  }
  std::ranges::sort(wanted, {}, &Wanted::offset);
  // A run ends where the gap is too wide, the run too long, or the values are in the buffer.
  for (std::size_t begin = 0; begin < wanted.size();) {
    std::size_t end = begin + 1;
    while (end < wanted.size() && wanted[end].offset < written_ &&
           wanted[end].offset - wanted[end - 1].offset <= kGapBytes &&
           wanted[end].offset - wanted[begin].offset <= kRunBytes - kGuessBytes) {
      ++end;
    }
    visit_run(std::span(wanted).subspan(begin, end - begin), visit);
    begin = end;
  }
}

void KeptValues::visit_run(std::span<const Wanted> run,
                           const std::function<void(RecordId, std::string_view)>& visit) const {
  std::string bytes;
  const std::uint64_t first = run.front().offset;
  // If the run cannot be read as a whole, `bytes` is empty and its values are read one by one.
  if (run.size() > 1 && first < written_) {
    bytes.resize(std::min(written_, run.back().offset + kGuessBytes) - first);
    if (!file_->read_at(first, bytes.data(), bytes.size()).ok()) bytes.clear();
  }
  for (const Wanted& wanted : run) {
    const bool buffered = wanted.offset >= written_;
    const auto value_there = buffered ? buffered_value(buffer_, wanted.offset - written_, wanted.id)
                                      : value_in(bytes, wanted.offset - first, wanted.id);
    if (value_there) {
      visit(wanted.id, *value_there);
      continue;
    }
    // Longer than the read, or unreadable: read alone, it is either found or counted.
    const auto value = read_value(wanted);
    if (value.ok()) {
      visit(wanted.id, *value);
    } else {
      read_errors_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

bool KeptValues::contains(RecordId id) const {
  const std::shared_lock lock(mutex_);
  return offset_of(id).has_value();
}

std::uint64_t KeptValues::len() const {
  const std::shared_lock lock(mutex_);
  return count_;
}

Status KeptValues::check_writable() const {
  if (sync_failure_) return writes_refused(*sync_failure_);
  return Done{};
}

Status KeptValues::clear() {
  const std::unique_lock lock(mutex_);
  KIN_RETURN_IF_ERROR(check_writable());
  // Values may be overwritten only once no index on the device names them. If this fails, the next
  // flush() has to write the index again.
  changed_ = true;
  if (options_.path) KIN_RETURN_IF_ERROR(write_index(kValuesHeaderBytes, {}));
  for (Table& table : tables_) table.clear();
  buffer_.clear();
  count_ = 0;
  written_ = kValuesHeaderBytes;
  return file_->truncate(written_);
}

Status KeptValues::flush() {
  // A temporary store has no name to be found by.
  if (!options_.path) return Done{};
  const std::unique_lock lock(mutex_);
  if (!changed_) return Done{};
  KIN_RETURN_IF_ERROR(check_writable());
  KIN_RETURN_IF_ERROR(write_buffer_out());
  if (auto synced = file_->sync(); !synced.ok()) {
    sync_failure_ = synced.error();  // the bytes it dropped are not written by a later sync
    return synced;
  }
  // Only after the data is on the device: an index never names bytes that a power cut can lose.
  KIN_RETURN_IF_ERROR(write_index(written_, tables_));
  changed_ = false;
  return Done{};
}

Status KeptValues::write_index(std::uint64_t data_bytes, std::span<const Table> tables) const {
  const std::uint64_t entries = tables.empty() ? 0 : count_;
  return replace_file(
      *options_.disk, *options_.path / kValueIndexFileName, [&](DiskFile& index) -> Status {
        KIN_RETURN_IF_ERROR(
            index.append(encode_index_header({.data_bytes = data_bytes, .entries = entries})));
        return write_blocks(index, tables);
      });
}

Status KeptValues::write_blocks(DiskFile& index, std::span<const Table> tables) const {
  std::vector<IndexEntry> block;
  // for_each() cannot stop early, so the first failure is kept and later blocks are skipped.
  Status written = Done{};
  const auto write_block = [&] {
    if (written.ok() && !block.empty()) written = index.append(encode_index_block(block));
    block.clear();
  };
  for (std::size_t table = 0; table < tables.size(); ++table) {
    tables[table].for_each([&](std::uint64_t slot) {
      const auto spread = static_cast<std::uint32_t>(table << kTagBits | Table::tag_of(slot));
      // Undoes the spreading: the table's number and the tag are the whole spread id.
      block.push_back({RecordId(spread * kGather), Table::payload_of(slot)});
      if (block.size() == kIndexBlock) write_block();
    });
  }
  write_block();
  return written;
}

KeptValuesStats KeptValues::stats() const {
  const std::shared_lock lock(mutex_);
  std::uint64_t memory = buffer_.capacity() + tables_.capacity() * sizeof(Table);
  for (const Table& table : tables_) memory += table.bytes();
  return {.values = count_,
          .file_bytes = written_ + buffer_.size(),
          .memory_bytes = memory,
          .read_errors = read_errors_.load(std::memory_order_relaxed)};
}

}  // namespace kin::store
