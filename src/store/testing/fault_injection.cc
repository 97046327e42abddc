#include "store/testing/fault_injection.h"

namespace kin::store {
namespace {

class FaultyFile final : public BlockFile {
 public:
  FaultyFile(std::unique_ptr<BlockFile> under, std::shared_ptr<Faults> faults)
      : under_(std::move(under)), faults_(std::move(faults)) {}

  Status read_at(std::uint64_t offset, char* to, std::size_t count) const override {
    const std::uint64_t number = ++faults_->reads;
    if (faults_->fail_reads || number == faults_->fail_read)
      return Error{Code::kUnavailable, "injected read fault"};
    return under_->read_at(offset, to, count);
  }
  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    const std::uint64_t number = ++faults_->writes;
    if (faults_->fail_writes || number == faults_->fail_write) {
      return Error{Code::kUnavailable, "injected write fault"};
    }
    return under_->write_at(offset, bytes);
  }
  Status sync() override { return under_->sync(); }
  Status truncate(std::uint64_t size) override { return under_->truncate(size); }
  Result<std::uint64_t> size() const override { return under_->size(); }

 private:
  std::unique_ptr<BlockFile> under_;
  std::shared_ptr<Faults> faults_;
};

}  // namespace

OpenBlockFile open_faulty(std::shared_ptr<Faults> faults) {
  return [faults](const std::filesystem::path& path) -> Result<std::unique_ptr<BlockFile>> {
    KIN_TRY(auto file, open_block_file(path));
    return std::unique_ptr<BlockFile>(std::make_unique<FaultyFile>(std::move(file), faults));
  };
}

}  // namespace kin::store
