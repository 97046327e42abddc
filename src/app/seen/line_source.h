// Ids as lines of text files.
#pragma once

#include "app/seen/id_source.h"
#include "base/file.h"
#include "data/byte_source.h"

namespace kin::app {

// Longer lines are refused.
inline constexpr std::size_t kLongestId = std::size_t{1} << 20;

// One thread only.
class LineSource : public IdSource {
 public:
  static Result<std::unique_ptr<IdSource>> open(const IdSourceOptions& options);

  Status read(const std::atomic<bool>& stop, const Take& take) override;
  std::uint64_t skipped() const override { return 0; }

 private:
  // One file, plain or compressed.
  class Bytes;

  explicit LineSource(std::vector<std::string> files);
  Status read_file(const std::string& name, Bytes& bytes, const std::atomic<bool>& stop,
                   const Take& take);
  // Passes the complete lines of text_ to take(); at the end of a file, all of it.
  Status hand_over(const std::string& name, bool at_end, bool more_is_ready, const Take& take);

  std::vector<std::string> files_;
  std::unique_ptr<Bytes> first_;  // opened early, since a named pipe cannot be opened twice
  std::string text_;              // read, not yet passed on
  std::uint64_t line_ = 0;        // lines of the file passed on
};

}  // namespace kin::app
