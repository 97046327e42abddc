#include "data/output/staged_output.h"

#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"

namespace kin::data {
namespace fs = std::filesystem;

StagedOutput::StagedOutput(fs::path target, const fs::path& temporary_folder)
    : target_(std::move(target)),
      temporary_(target_ == "-" ? temporary_name(temporary_folder / "standard_output.jsonl")
                                : temporary_name(target_)) {}

StagedOutput::StagedOutput(StagedOutput&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      synced_(other.synced_) {}

StagedOutput::~StagedOutput() {
  std::error_code ignored;  // a file left behind harms nobody, and a destructor cannot report
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

Status StagedOutput::sync() {
  if (synced_ || target_ == "-") return Done{};
  KIN_TRY(File file, File::open_to_read(temporary_));
  KIN_RETURN_IF_ERROR(file.sync());
  synced_ = true;
  return Done{};
}

Status StagedOutput::commit() {
  if (target_ != "-") {
    KIN_RETURN_IF_ERROR(sync());
    KIN_RETURN_IF_ERROR(rename_durably(temporary_, target_));
    temporary_.clear();
    return Done{};
  }
  KIN_TRY(File from, File::open_to_read(temporary_));
  File to = File::standard_output();
  std::vector<char> buffer(1 << 20);
  for (;;) {
    KIN_TRY(const std::size_t got, from.read(buffer.data(), buffer.size()));
    if (got == 0) return Done{};
    KIN_RETURN_IF_ERROR(to.write({buffer.data(), got}));
  }
}

}  // namespace kin::data
