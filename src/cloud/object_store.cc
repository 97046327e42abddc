#include "cloud/object_store.h"

#include <fmt/format.h>

#include "cloud/cloud_options.h"
#include "cloud/s3_client.h"

namespace kin::cloud {
namespace {

constexpr std::string_view kScheme = "s3://";

class S3Objects final : public ObjectStore {
 public:
  S3Objects(std::unique_ptr<S3Client> client, std::string prefix)
      : client_(std::move(client)), prefix_(std::move(prefix)) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    return client_->get(prefix_ + name);
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const ByteRange> ranges) override {
    return client_->get_ranges(prefix_ + name, ranges);
  }
  Result<bool> create(const std::string& name, std::string bytes) override {
    return client_->put_if_absent(prefix_ + name, std::move(bytes));
  }
  Status upload(const std::string& name, const ObjectSource& source) override {
    return client_->upload(prefix_ + name, source);
  }
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override {
    KIN_TRY(const ObjectPage page, client_->list(prefix_ + prefix, next, most));
    next = page.next;
    std::vector<std::string> names;
    for (const ObjectInfo& object : page.objects)
      names.push_back(object.key.substr(prefix_.size()));
    return names;
  }
  Status remove(std::span<const std::string> names) override {
    std::vector<std::string> keys;
    for (const std::string& name : names) keys.push_back(prefix_ + name);
    return client_->remove(keys);
  }

 private:
  const std::unique_ptr<S3Client> client_;
  const std::string prefix_;
};

class ObjectsBelow final : public ObjectStore {
 public:
  ObjectsBelow(ObjectStore& objects, std::string prefix)
      : objects_(objects), prefix_(std::move(prefix)) {}

  Result<std::optional<std::string>> get(const std::string& name) override {
    return objects_.get(prefix_ + name);
  }
  Result<std::vector<std::string>> get_ranges(const std::string& name,
                                              std::span<const ByteRange> ranges) override {
    return objects_.get_ranges(prefix_ + name, ranges);
  }
  Result<bool> create(const std::string& name, std::string bytes) override {
    return objects_.create(prefix_ + name, std::move(bytes));
  }
  Status upload(const std::string& name, const ObjectSource& source) override {
    return objects_.upload(prefix_ + name, source);
  }
  Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                        std::string& next) override {
    KIN_TRY(auto names, objects_.list(prefix_ + prefix, most, next));
    for (std::string& name : names) name.erase(0, prefix_.size());
    return names;
  }
  Status remove(std::span<const std::string> names) override {
    std::vector<std::string> all;
    for (const std::string& name : names) all.push_back(prefix_ + name);
    return objects_.remove(all);
  }

 private:
  ObjectStore& objects_;
  const std::string prefix_;
};

}  // namespace

std::unique_ptr<ObjectStore> objects_below(ObjectStore& objects, std::string prefix) {
  return std::make_unique<ObjectsBelow>(objects, std::move(prefix));
}

Result<std::vector<std::string>> list_all(ObjectStore& objects, const std::string& prefix) {
  std::vector<std::string> all;
  std::string next;
  do {
    KIN_TRY(const auto page, objects.list(prefix, 1000, next));
    all.insert(all.end(), page.begin(), page.end());
  } while (!next.empty());
  return all;
}

ObjectSource source_of(std::string_view bytes) {
  return [bytes, at = std::size_t{0}](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t count = bytes.copy(into.data(), into.size(), at);
    at += count;
    return count;
  };
}

std::unique_ptr<ObjectStore> open_s3_objects(std::unique_ptr<S3Client> client, std::string prefix) {
  return std::make_unique<S3Objects>(std::move(client), std::move(prefix));
}

Result<std::unique_ptr<ObjectStore>> open_objects(const std::string& address, Clock& clock,
                                                  std::uint64_t seed) {
  if (!address.starts_with(kScheme)) return open_folder_objects(address);
  const std::string rest = address.substr(kScheme.size());
  const std::size_t end = std::min(rest.find('/'), rest.size());
  if (end == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} names no bucket (write s3://BUCKET/PREFIX)", address)};
  std::string prefix = end < rest.size() ? rest.substr(end + 1) : "";
  if (!prefix.empty() && prefix.back() != '/') prefix += '/';
  CloudOptions options = options_of_environment("S3");
  const auto style =
      options.endpoint.empty() ? S3Options::Style::kVirtualHost : S3Options::Style::kPath;
  return open_s3_objects(
      std::make_unique<S3Client>(std::move(options),
                                 S3Options{.bucket = rest.substr(0, end), .style = style}, clock,
                                 seed),
      std::move(prefix));
}

}  // namespace kin::cloud
