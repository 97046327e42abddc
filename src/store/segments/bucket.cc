#include "store/segments/bucket.h"

namespace kin::store {
namespace {

class S3Bucket final : public Bucket {
 public:
  S3Bucket(std::unique_ptr<cloud::S3Client> client, std::string prefix)
      : client_(std::move(client)), prefix_(std::move(prefix)) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    return client_->get(prefix_ + name);
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const cloud::ByteRange> ranges) override {
    return client_->get_ranges(prefix_ + name, ranges);
  }
  Result<bool> create(const std::string& name, std::string bytes) override {
    return client_->put_if_absent(prefix_ + name, std::move(bytes));
  }
  Status upload(const std::string& name, const cloud::S3Client::Source& source) override {
    return client_->upload(prefix_ + name, source);
  }
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override {
    KIN_TRY(const cloud::ObjectPage page, client_->list(prefix_ + prefix, next, most));
    next = page.next;
    std::vector<std::string> names;
    for (const cloud::ObjectInfo& object : page.objects)
      names.push_back(object.key.substr(prefix_.size()));
    return names;
  }
  Status remove(std::span<const std::string> names) override {
    std::vector<std::string> keys;
    for (const std::string& name : names) keys.push_back(prefix_ + name);
    return client_->remove(keys);
  }

 private:
  const std::unique_ptr<cloud::S3Client> client_;
  const std::string prefix_;
};

}  // namespace

std::unique_ptr<Bucket> open_s3_bucket(std::unique_ptr<cloud::S3Client> client,
                                       std::string prefix) {
  return std::make_unique<S3Bucket>(std::move(client), std::move(prefix));
}

}  // namespace kin::store
