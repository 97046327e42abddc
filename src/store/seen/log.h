// The log of the seen set: ids in the order of their insertion, durable before they are
// acknowledged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/seen/id.h"
#include "store/seen/piece.h"

namespace kin::store {

// A log no longer than its header holds no ids.
inline constexpr std::size_t kSeenLogHeaderBytes = 40;

std::filesystem::path log_path(const std::filesystem::path& folder, std::uint64_t number);

struct SeenLogContents {
  std::uint64_t length = 0;  // of the valid part
  std::uint64_t ids = 0;
  bool sealed = false;
  std::uint64_t dropped_bytes = 0;  // bytes after it: a write that a crash cut short
};

// The manifest's information about a log.
struct SeenLogExpectation {
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;       // ids of the set before it
  std::uint64_t durable_bytes = 0;  // known to have been synced
};

// Appends ids to one log. One thread only. Do not write after an error: the state of the device is
// unknown, and a later sync would not report it.
class SeenLogWriter {
 public:
  // Makes log `number`, whose first id is the `sequence`-th of the set; its name is durable.
  static Result<SeenLogWriter> create(const SeenPlacement& placement, std::uint64_t number,
                                      std::uint64_t sequence);
  // Continues a log after its last valid frame. Everything up to there is durable when it returns;
  // the rest is cut off.
  static Result<SeenLogWriter> reopen(const SeenPlacement& placement,
                                      const SeenLogExpectation& expected,
                                      const SeenLogContents& contents);

  // Buffers the id until a frame is full.
  Status add(SeenId id);
  // Writes the buffer to the file.
  Status write();
  // Writes the buffer, and returns once everything is on the device.
  Status sync();
  // Writes a durable end mark: the next log continues.
  Status seal();

  std::uint64_t number() const { return number_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t durable_bytes() const { return durable_; }

 private:
  SeenLogWriter(std::unique_ptr<DiskFile> file, IdKind kind, std::uint64_t number)
      : file_(std::move(file)), kind_(kind), number_(number) {}

  std::unique_ptr<DiskFile> file_;
  IdKind kind_;
  std::uint64_t number_;
  std::uint64_t sequence_ = 0;  // ids of the set before the frame being filled
  std::uint64_t bytes_ = 0;     // written
  std::uint64_t durable_ = 0;
  std::uint32_t count_ = 0;  // in the frame being filled
  std::string frame_;
};

// Decodes the bytes of a log and gives its ids in order. An invalid frame ends it, unless a later
// frame or the manifest shows that it had been synced: then kDataLoss, without a path. kNotFound if
// even the header is invalid: a crash interrupted the creation of the log.
Result<SeenLogContents> decode_log(std::string_view bytes, IdKind kind,
                                   const SeenLogExpectation& expected,
                                   const std::function<void(SeenId)>& visit);

// The same from the file, with its path in errors.
Result<SeenLogContents> replay_log(const SeenPlacement& placement,
                                   const SeenLogExpectation& expected,
                                   const std::function<void(SeenId)>& visit);

}  // namespace kin::store
