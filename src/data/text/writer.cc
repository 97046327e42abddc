#include "data/text/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/ordered_places.h"
#include "base/workers.h"
#include "data/block_reader.h"
#include "data/text/scan.h"

namespace kin::data {
namespace {

struct Kept {
  std::string_view bytes;
  std::uint64_t records = 0;
  std::uint64_t longest = 0;
};

void atomic_max(std::atomic<std::uint64_t>& value, std::uint64_t candidate) {
  std::uint64_t now = value;
  while (now < candidate && !value.compare_exchange_weak(now, candidate)) {
  }
}

struct Selection {
  std::span<const Input> inputs;
  const RecordSet& keep;
  const SkipLog& skipped;
  bool contains(RecordId row) const { return keep.contains(row) && !skipped.contains(row); }
};

// Moves the kept records to the front of the block.
Kept compact(Block& block, const Selection& selection) {
  char* const bytes = block.bytes.data();
  std::size_t end = 0;
  std::uint64_t records = 0;
  std::uint64_t longest = 0;
  std::size_t run_begin = 0;
  std::size_t run_end = 0;
  const auto flush = [&] {
    if (run_begin != end) std::memmove(bytes + end, bytes + run_begin, run_end - run_begin);
    end += run_end - run_begin;
  };
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    const RecordId row = record_at(block.first_row + i);
    if (!selection.contains(row)) continue;
    ++records;
    longest = std::max<std::uint64_t>(longest, block.records[i].end - block.records[i].begin);
    if (block.records[i].begin != run_end) {
      flush();
      run_begin = block.records[i].begin;
    }
    run_end = block.records[i].end;
  }
  flush();
  // The padding behind the block has room for the line end that the file's last line may lack.
  if (end > 0 && bytes[end - 1] != '\n') bytes[end++] = '\n';
  return {{bytes, end}, records, longest};
}

// Puts the kept records into `out` in another format.
Result<Kept> encode(const Block& block, const Selection& selection, RecordEncoder& encoder,
                    std::string& out) {
  out.clear();
  Kept kept;
  for (std::size_t i = 0; i < block.records.size(); ++i) {
    const RecordId row = record_at(block.first_row + i);
    if (!selection.contains(row)) continue;
    const std::size_t before = out.size();
    if (const auto problem = encoder.append(out, block.text(block.records[i]), row)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}:{}: {}", selection.inputs[block.file].shown_as,
                               block.first_line + block.records[i].line, *problem)};
    }
    ++kept.records;
    kept.longest = std::max<std::uint64_t>(kept.longest, out.size() - before);
  }
  kept.bytes = out;
  return kept;
}

}  // namespace

Result<TextWritten> write_text(std::span<const Input> inputs, const RecordSet& keep,
                               const SkipLog& skipped, const std::filesystem::path& path,
                               const TextWriteOptions& options) {
  KIN_TRY(File file, File::create(path));
  Compressor header_compressor(options.compression, options.level);
  std::string_view header;
  if (!options.header.empty()) {
    KIN_TRY(header, header_compressor.pack(options.header));
    KIN_RETURN_IF_ERROR(file.write_at(0, header));
  }
  BlockReader blocks(inputs, {.start = {},
                              .block_bytes = kTextBlockBytes,
                              .pause = {},
                              .large_bytes = options.large_bytes});
  OrderedPlaces places(header.size());
  // Linux lets one thread write to a file at a time; the others would spin.
  std::mutex writing;
  std::atomic<std::uint64_t> records{0};
  std::atomic<std::uint64_t> longest{0};
  const Selection selection{inputs, keep, skipped};
  const auto write_blocks = [&](Block& block) -> Status {
    Compressor compressor(options.compression, options.level);
    auto encoder = options.encoder ? options.encoder() : nullptr;
    std::string encoded;
    for (;;) {
      KIN_TRY(const bool any, blocks.next(block));
      if (!any) return Done{};
      Kept kept;
      if (encoder != nullptr) {
        KIN_TRY(kept, encode(block, selection, *encoder, encoded));
      } else {
        kept = compact(block, selection);
      }
      std::string_view packed;
      if (!kept.bytes.empty()) {
        KIN_TRY(packed, compressor.pack(kept.bytes));
      }
      const auto place = places.take(block.number, packed.size());
      if (!place) return Done{};
      {
        const std::scoped_lock lock(writing);
        KIN_RETURN_IF_ERROR(file.write_at(*place, packed));
      }
      // Leaves less to do for the sync at the end.
      file.begin_sync(*place, packed.size());
      records += kept.records;
      if (options.written) options.written(kept.records);
      atomic_max(longest, kept.longest);
      // Memory for one long record is not kept for the records after it, in the encoder neither:
      // other threads have long records meanwhile.
      if (encoded.capacity() > 8 * kTextBlockBytes) {
        encoded = std::string();
        encoder = options.encoder();
      }
    }
  };
  KIN_RETURN_IF_ERROR(run_workers(std::max(options.threads, 1), [&](int) -> Status {
    Block block;
    Status status = write_blocks(block);
    blocks.release(block);
    block.bytes = ByteBuffer();
    if (status && options.beside) status = options.beside();
    // Other threads may wait for the place of this thread's block.
    if (!status) places.fail();
    return status;
  }));
  std::uint64_t end = places.end();
  if (!options.trailer.empty()) {
    KIN_TRY(const std::string_view trailer, header_compressor.pack(options.trailer));
    KIN_RETURN_IF_ERROR(file.write_at(end, trailer));
    end += trailer.size();
  }
  // A file without records is an empty stream of its format, not an empty file.
  if (end == 0) {
    KIN_TRY(const std::string_view nothing, header_compressor.pack(""));
    KIN_RETURN_IF_ERROR(file.write_at(0, nothing));
    end = nothing.size();
  }
  KIN_RETURN_IF_ERROR(file.close());
  return TextWritten{records, end, longest};
}

}  // namespace kin::data
