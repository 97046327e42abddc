#include "cloud/s3_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "cloud/s3/object_contents.h"

namespace kin::cloud {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kScheme = "s3://";

struct Address {
  std::string bucket;
  std::string key;
};

Result<Address> parse_address(const std::string& name) {
  const std::string rest = name.starts_with(kScheme) ? name.substr(kScheme.size()) : "";
  const std::size_t slash = rest.find('/');
  Address address{.bucket = rest.substr(0, slash),
                  .key = slash == std::string::npos ? "" : rest.substr(slash + 1)};
  if (address.bucket.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not the address of an object (write s3://BUCKET/NAME)", name)};
  return address;
}

std::uint64_t half_of_free(const std::optional<fs::path>& folder) {
  std::error_code failure;
  const fs::path where = folder ? *folder : fs::temp_directory_path(failure);
  const fs::space_info space = fs::space(where, failure);
  return failure ? std::uint64_t{1} << 30 : space.available / 2;
}

// The upload of a local file to a bucket.
class FileUpload : public data::RemoteUpload {
 public:
  FileUpload(S3Client& client, std::string key, fs::path from)
      : client_(client), key_(std::move(key)), from_(std::move(from)) {}
  ~FileUpload() override {
    if (staged_) client_.abandon(*staged_);
  }

  // Files of one part are sent when they are published, so that the store holds nothing before.
  Status send() {
    KIN_TRY(File file, File::open_to_read(from_));
    KIN_TRY(const std::uint64_t size, file.size());
    if (size < S3Options{}.part_bytes) return Done{};
    KIN_TRY(staged_, client_.stage(key_, source_of(file), size));
    return Done{};
  }

  Status publish() override {
    if (staged_) {
      KIN_RETURN_IF_ERROR(client_.complete(*staged_));
      staged_.reset();
      return Done{};
    }
    KIN_TRY(File file, File::open_to_read(from_));
    return client_.upload(key_, source_of(file));
  }

 private:
  static S3Client::Source source_of(File& file) {
    return [&file](std::span<char> into) { return file.read(into.data(), into.size()); };
  }

  S3Client& client_;
  const std::string key_;
  const fs::path from_;
  std::optional<StagedUpload> staged_;
};

}  // namespace

struct S3Files::State {
  State(S3FilesOptions given, Clock& the_clock, std::uint64_t the_seed)
      : options(std::move(given)),
        clock(the_clock),
        seed(the_seed),
        space(options.folder,
              options.copy_bytes > 0 ? options.copy_bytes : half_of_free(options.folder)) {
    if (options.cloud.meter == nullptr) options.cloud.meter = std::make_shared<CallMeter>();
  }

  S3Client& client(const std::string& bucket) {
    const std::lock_guard lock(mutex);
    std::unique_ptr<S3Client>& found = clients[bucket];
    if (found == nullptr) {
      found = std::make_unique<S3Client>(
          options.cloud, S3Options{.bucket = bucket, .style = options.style}, clock, seed++);
    }
    return *found;
  }

  Result<std::shared_ptr<ObjectContents>> contents(const data::RemoteFile& file) {
    KIN_TRY(const Address address, parse_address(file.name));
    S3Client& in = client(address.bucket);
    const std::lock_guard lock(mutex);
    std::shared_ptr<ObjectContents>& found = objects[file.name + "\n" + file.version];
    if (found == nullptr) {
      found = std::make_shared<ObjectContents>(
          in, ObjectInfo{.key = address.key, .size = file.bytes, .etag = file.version}, space);
    }
    return found;
  }

  S3FilesOptions options;
  Clock& clock;
  std::mutex mutex;
  std::uint64_t seed;
  std::map<std::string, std::unique_ptr<S3Client>> clients;  // by bucket
  CopySpace space;
  std::map<std::string, std::shared_ptr<ObjectContents>> objects;  // by name and version
};

S3Files::S3Files(S3FilesOptions options, Clock& clock, std::uint64_t seed)
    : state_(std::make_unique<State>(std::move(options), clock, seed)) {}

S3Files::~S3Files() = default;

CallCounts S3Files::counts() const {
  return state_->options.cloud.meter->counts();
}

Result<std::vector<data::RemoteFile>> S3Files::list(const std::string& prefix) {
  KIN_TRY(const Address address, parse_address(prefix));
  S3Client& client = state_->client(address.bucket);
  std::vector<data::RemoteFile> files;
  std::string next;
  do {
    auto page = client.list(address.key, next);
    if (!page) return with_context("cannot list " + prefix, page.error());
    for (ObjectInfo& object : page->objects) {
      files.push_back({.name = fmt::format("{}{}/{}", kScheme, address.bucket, object.key),
                       .bytes = object.size,
                       .version = std::move(object.etag)});
    }
    next = std::move(page->next);
  } while (!next.empty());
  return files;
}

Result<std::optional<data::RemoteFile>> S3Files::look(const std::string& name) {
  KIN_TRY(const Address address, parse_address(name));
  auto found = state_->client(address.bucket).head(address.key);
  if (!found) return with_context("cannot read " + name, found.error());
  std::optional<ObjectInfo>& object = *found;
  if (!object) return std::optional<data::RemoteFile>();
  return std::optional(
      data::RemoteFile{.name = name, .bytes = object->size, .version = std::move(object->etag)});
}

Result<File> S3Files::open(const data::RemoteFile& file) {
  KIN_TRY(auto contents, state_->contents(file));
  return File::reading(std::move(contents), file.name);
}

Result<fs::path> S3Files::copy(const data::RemoteFile& file) {
  KIN_TRY(const auto contents, state_->contents(file));
  return contents->whole();
}

Status S3Files::check_writable(const std::string& name) {
  KIN_TRY(const Address address, parse_address(name));
  const Status status = state_->client(address.bucket).check_writable(address.key);
  return status ? status : Status(with_context("cannot write " + name, status.error()));
}

Result<std::unique_ptr<data::RemoteUpload>> S3Files::upload(const fs::path& from,
                                                            const std::string& name) {
  KIN_TRY(const Address address, parse_address(name));
  auto upload = std::make_unique<FileUpload>(state_->client(address.bucket), address.key, from);
  KIN_RETURN_IF_ERROR(upload->send());
  return std::unique_ptr<data::RemoteUpload>(std::move(upload));
}

Result<std::optional<std::string>> S3Files::read(const std::string& name) {
  KIN_TRY(const Address address, parse_address(name));
  return state_->client(address.bucket).get(address.key);
}

Status S3Files::write(const std::string& name, std::string bytes) {
  KIN_TRY(const Address address, parse_address(name));
  return state_->client(address.bucket).put(address.key, std::move(bytes));
}

Status S3Files::remove(const std::string& name) {
  KIN_TRY(const Address address, parse_address(name));
  return state_->client(address.bucket).remove(address.key);
}

}  // namespace kin::cloud
