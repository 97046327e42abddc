#include "store/segments/s3_table.h"

#include <fmt/format.h>

namespace kin::store {
namespace {

std::unique_ptr<cloud::S3Client> client_of(const S3StoreOptions& options) {
  return std::make_unique<cloud::S3Client>(options.cloud, options.bucket, *options.clock,
                                           options.seed);
}

}  // namespace

Status create_s3_bucket(const S3StoreOptions& options) {
  return client_of(options)->create_bucket();
}

std::string place_of(const S3StoreOptions& options, const std::string& name) {
  return fmt::format("s3://{}/{}{}", options.bucket.bucket, options.prefix, name);
}

Result<std::unique_ptr<SegmentTable>> open_s3_table(const S3StoreOptions& options,
                                                    const std::string& name, Join join,
                                                    const std::optional<std::string>& description) {
  TableOptions table;
  table.cache_folder = options.cache_folder / name;
  table.cache_bytes = options.cache_bytes;
  table.join = std::move(join);
  table.grace = options.grace;
  table.clock = options.clock;
  // The client's own random numbers come from the seed too.
  table.seed = mix64(options.seed + 1);
  auto opened = SegmentTable::open(
      cloud::open_s3_objects(client_of(options), fmt::format("{}{}/", options.prefix, name)), table,
      description);
  if (!opened) return with_context(place_of(options, name), opened.error());
  return opened;
}

}  // namespace kin::store
