#include "store/block_file.h"

namespace kin::store {
namespace fs = std::filesystem;
namespace {

class RealBlockFile final : public BlockFile {
 public:
  explicit RealBlockFile(File file) : file_(std::move(file)) {}
  Status read_at(std::uint64_t offset, char* to, std::size_t count) const override {
    return file_.read_at(offset, to, count);
  }
  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    return file_.write_at(offset, bytes);
  }
  Status sync() override { return file_.sync(); }
  Status truncate(std::uint64_t size) override { return file_.truncate(size); }
  Result<std::uint64_t> size() const override { return file_.size(); }

 private:
  File file_;
};

}  // namespace

Result<std::unique_ptr<BlockFile>> open_block_file(const fs::path& path) {
  KIN_TRY(File file, File::open_to_update(path));
  KIN_RETURN_IF_ERROR(file.lock());
  return std::unique_ptr<BlockFile>(std::make_unique<RealBlockFile>(std::move(file)));
}

Result<std::unique_ptr<BlockFile>> open_placed(const Placement& placement, std::string_view name) {
  if (placement.path) {
    std::error_code failure;
    fs::create_directories(*placement.path, failure);
    if (failure) return system_error("make the folder", *placement.path, failure.value());
    return placement.open_file(*placement.path / name);
  }
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(placement.temporary_parent));
  return placement.open_file(folder.path() / name);
}

}  // namespace kin::store
