// The log file of a LogStore (docs/formats.md, "The log of a small store").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"

namespace kin::kv {

struct LogChange {
  enum class Kind : std::uint8_t { kPut = 1, kRemove = 2, kRemoveRange = 3 };
  Kind kind = Kind::kPut;
  std::uint32_t family = 0;  // index in the file's list of families
  std::string_view key;      // of a range: its first key
  std::string_view value;    // of a range: the end, which is not in it; empty for kRemove
  friend bool operator==(const LogChange&, const LogChange&) = default;
};

void append_change(std::string& payload, const LogChange& change);

// Passes the changes of a payload to `visit` in order. kDataLoss if it is malformed or names a
// family beyond `families`.
using VisitChange = std::function<void(const LogChange&)>;
Status visit_changes(std::string_view payload, std::size_t families, const VisitChange& visit);

// The payloads of a frame are at most this long.
inline constexpr std::size_t kMostPayload = 0xFFFFFFFEU;

// Appends to a log. One thread only.
class LogWriter {
 public:
  // Starts a log in an empty file.
  static Result<LogWriter> create(std::unique_ptr<DiskFile> file,
                                  const std::vector<std::string>& families);
  // Appends the changes of one batch as one frame.
  Status append(std::string_view payload);
  // Returns once every frame is on the device.
  Status sync();
  // Appends a mark that everything before it is on the device: after a sync(), or while the file
  // does not have its final name.
  Status seal();
  std::uint64_t bytes() const { return bytes_; }

 private:
  LogWriter(std::unique_ptr<DiskFile> file, std::uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes), durable_(bytes) {}
  Status append_frame(std::uint32_t length, std::string_view payload);

  std::unique_ptr<DiskFile> file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t durable_ = 0;
};

// Reads a log and passes its changes to `visit` in order; `begin` gets the families before. The
// views live during the call. Frames that a crash tore off are left out; kDataLoss if a frame that
// was durable does not match its checksum, kFailedPrecondition if the version is not known.
using BeginLog = std::function<void(std::vector<std::string> families)>;
Status decode_log(std::string_view bytes, const BeginLog& begin, const VisitChange& visit);

}  // namespace kin::kv
