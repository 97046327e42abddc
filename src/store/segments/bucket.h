// The interface of a table to the bucket that holds its objects.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/cloud_options.h"
#include "cloud/s3_client.h"

namespace kin::store {

// Objects by name. Thread-safe. A write is visible to every later call of every process.
class Bucket {
 public:
  virtual ~Bucket() = default;
  // Nothing if there is no such object.
  virtual Result<std::optional<std::string>> get(const std::string& name) = 0;
  // Parts of an object, in the order of the ranges. kNotFound if there is no such object.
  virtual Result<std::vector<std::string>> get_ranges(const std::string& name,
                                                      std::span<const cloud::ByteRange> ranges) = 0;
  // False if an object of this name exists already, made by another worker.
  virtual Result<bool> create(const std::string& name, std::string bytes) = 0;
  // Writes an object of any length. It appears when it is complete.
  virtual Status upload(const std::string& name, const cloud::S3Client::Source& source) = 0;
  // Names that begin with `prefix`, sorted. At most `most` of them; `next` continues a list and is
  // empty at its end.
  virtual Result<std::vector<std::string>> list(const std::string& prefix, int most,
                                                std::string& next) = 0;
  // Missing objects are not an error.
  virtual Status remove(std::span<const std::string> names) = 0;
};

// Objects of a bucket of S3 whose keys begin with `prefix`, which is not part of their names.
std::unique_ptr<Bucket> open_s3_bucket(std::unique_ptr<cloud::S3Client> client, std::string prefix);

}  // namespace kin::store
