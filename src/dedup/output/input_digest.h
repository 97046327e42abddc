// Hashes of the bytes that a run has read, by which a resumed run detects changed inputs.
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
  // If these are unchanged, the file was not touched and need not be read again.
  std::uint64_t file_number = 0;
  std::int64_t status_changed = 0;  // nanoseconds since 1970; a program cannot set it
  friend bool operator==(const InputDigest&, const InputDigest&) = default;
};

// Extends `digests` to the bytes that a scan at `position` has read: for a plain file the bytes
// before it, for compressed files and Parquet the whole file.
Status extend_digests(std::span<const data::Input> inputs, const data::Position& position,
                      std::vector<InputDigest>& digests);

// kFailedPrecondition if an input has other bytes than when it was read. Reads again the files that
// may have been written to since.
Status verify_digests(std::span<const data::Input> inputs, std::span<const InputDigest> digests);

void append_digests(std::string& bytes, std::span<const InputDigest> digests);
std::vector<InputDigest> read_digests(ByteReader& reader);

}  // namespace kin::dedup
