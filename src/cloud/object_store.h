// Objects by name that are created once and never change: in a bucket of S3, or in a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace kin::cloud {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // at least 1
};

// Fills a span and returns the number of bytes; 0 at the end.
using ObjectSource = std::function<Result<std::size_t>(std::span<char> into)>;

// A write is durable when a call returns, and visible to every later call of every process. An
// error kUnavailable of create() means that it may or may not have taken effect. Names have
// segments between "/", none of them empty, "." or "..". Thread-safe.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  // Nothing if there is no such object.
  virtual Result<std::optional<std::string>> get(const std::string& name) = 0;
  // Parts of an object, in the order of the ranges. kNotFound if there is no such object,
  // kInvalidArgument if a range does not lie within it.
  virtual Result<std::vector<std::string>> get_ranges(const std::string& name,
                                                      std::span<const ByteRange> ranges) = 0;
  // False if an object of this name exists already, made by another writer. Of many writers one
  // creates the object.
  virtual Result<bool> create(const std::string& name, std::string bytes) = 0;
  // Writes an object of any length, over an older one. It appears when it is complete.
  virtual Status upload(const std::string& name, const ObjectSource& source) = 0;
  // Names that begin with `prefix`, sorted. At most `most` of them; `next` continues a list and is
  // empty at its end.
  virtual Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                                std::string& next) = 0;
  // Missing objects are not an error.
  virtual Status remove(std::span<const std::string> names) = 0;
};

// All names that begin with `prefix`, sorted.
Result<std::vector<std::string>> list_all(ObjectStore& objects, const std::string& prefix);
// The bytes of a string, as a source. `bytes` must outlive it.
ObjectSource source_of(std::string_view bytes);

// The objects of `objects` whose names begin with `prefix`, which is not part of their names. Borrows.
std::unique_ptr<ObjectStore> objects_below(ObjectStore& objects, std::string prefix);

class S3Client;
// Objects of a bucket of S3 whose keys begin with `prefix`, which is not part of their names.
std::unique_ptr<ObjectStore> open_s3_objects(std::unique_ptr<S3Client> client, std::string prefix);

// Files below `folder`, which is made with its first object. The folder may be shared by machines if
// its file system has hard links (link(2) decides which of many writers creates an object).
std::unique_ptr<ObjectStore> open_folder_objects(std::filesystem::path folder);

// "s3://BUCKET/PREFIX", with the credentials and the endpoint of the environment
// (options_of_environment()), or else a folder. kInvalidArgument for an address without a bucket.
// `seed` differs between processes.
Result<std::unique_ptr<ObjectStore>> open_objects(const std::string& address, Clock& clock,
                                                  std::uint64_t seed);

}  // namespace kin::cloud
