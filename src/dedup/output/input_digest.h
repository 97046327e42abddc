// Hashes of what a run has read of its inputs, by which a resumed run finds out that they changed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "data/input.h"
#include "data/position.h"

namespace kin::dedup {

// The bytes of one file, from its beginning, hashed in pieces so that more can be added.
struct InputDigest {
  std::uint64_t bytes = 0;        // hashed so far
  std::uint64_t whole_bytes = 0;  // of these, in whole pieces
  std::uint64_t whole_hash = 0;
  std::uint64_t hash = 0;  // of all
  // By these the system shows that the file was not touched, and it need not be read again.
  std::uint64_t file_number = 0;
  std::int64_t status_changed = 0;  // nanoseconds since 1970; a program cannot set it
  friend bool operator==(const InputDigest&, const InputDigest&) = default;
};

// Brings `digests` up to what a scan that stands at `position` has read: of a plain file the bytes
// before it, of compressed files and Parquet the whole file.
Status extend_digests(std::span<const data::Input> inputs, const data::Position& position,
                      std::vector<InputDigest>& digests);

// kFailedPrecondition if an input holds other bytes than when it was read. Reads those files again
// that may have been written to since.
Status verify_digests(std::span<const data::Input> inputs, std::span<const InputDigest> digests);

void append_digests(std::string& bytes, std::span<const InputDigest> digests);
std::vector<InputDigest> read_digests(ByteReader& reader);

}  // namespace kin::dedup
