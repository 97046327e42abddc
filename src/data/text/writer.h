// Writes kept records of text files, byte for byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/file.h"
#include "base/record_set.h"
#include "data/compressor.h"
#include "data/input.h"
#include "data/text/record_encoder.h"
#include "data/text/skip_log.h"

namespace kin::data {

// How much a thread reads at once, and the size of a piece of compressed output: constant, so
// that output does not depend on the machine.
inline constexpr std::size_t kTextBlockBytes = 1 << 20;

// How many times a thread holds a long record while it writes it: as it was read, in another format
// while that text grows, and compressed.
inline constexpr std::uint64_t kWrittenCopies = 6;

struct TextWriteOptions {
  std::string_view header;        // written first
  std::string_view trailer = {};  // written last
  Compression compression = Compression::kNone;
  std::optional<int> level = {};  // of the compression
  int threads = 1;
  // Makes an encoder for each thread, to write records in another format; if empty, records stay as
  // they are.
  std::function<std::unique_ptr<RecordEncoder>()> encoder = {};
  std::function<Status()> beside = {};  // as in WriteOptions
  std::function<void(std::uint64_t records)> written = {};
  std::uint64_t large_bytes = 0;  // as in BlockReaderOptions
};

struct TextWritten {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t longest_record = 0;  // in bytes
};

// Writes the records of `inputs` that are in `keep` and were not skipped to `path`. A last line
// without a line end gets one.
Result<TextWritten> write_text(std::span<const Input> inputs, const RecordSet& keep,
                               const SkipLog& skipped, const std::filesystem::path& path,
                               const TextWriteOptions& options);

}  // namespace kin::data
