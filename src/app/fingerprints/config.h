// The settings file of shared stores: kindred dedup --config kindred.yaml.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dedup/ingest.h"

namespace kin::app {

// Section global_fingerprints of the file. docs/operations.md describes every setting.
struct StoresConfig {
  enum class Backend { kLocal, kS3, kDynamoDb };
  struct Storage {
    enum class Style { kByEndpoint, kPath, kVirtualHost };
    std::string bucket = {};
    std::string prefix = {};
    std::string region = {};
    std::string endpoint = {};                      // empty: Amazon's
    Style style = Style::kByEndpoint;               // virtual hosts at Amazon, paths elsewhere
    std::optional<std::uint64_t> cache_bytes = {};  // nothing: as S3StoreOptions has it
  };
  struct DynamoDb {
    std::string region = {};
    std::string endpoint = {};  // empty: Amazon's
    std::string simhash_table = "kindred-simhash";
    std::string minhash_table = "kindred-minhash";
    std::string chunk_table = "kindred-chunk";
    std::string processed_table = "kindred-processed";
  };
  struct Redis {
    std::string host = {};
    std::uint16_t port = 0;
    bool tls = false;
    std::string password_env = {};  // name of the variable that has the password
  };

  bool enabled = true;
  Backend backend = Backend::kLocal;
  std::filesystem::path root_path = {};  // absolute, or relative to the working directory
  Storage storage = {};
  DynamoDb dynamodb = {};
  std::optional<Redis> redis = {};
  std::optional<std::chrono::days> fingerprints_ttl = {};  // nothing: for ever
  std::optional<std::chrono::days> processed_ttl = {};
  dedup::Priorities priorities = {};
  std::string checkpoints = {};  // a folder, as root_path, or an address; empty: nowhere
  std::optional<std::string> type_column = {};
  std::optional<std::string> language_column = {};
};

// `name` is the file's name in messages, which also give the line: "kindred.yaml:7: …". A relative
// root_path is relative to the folder of the file. Settings that are unknown, of the wrong type or
// missing are errors.
Result<StoresConfig> parse_stores_config(std::string_view yaml, const std::filesystem::path& name);
Result<StoresConfig> read_stores_config(const std::filesystem::path& path);

}  // namespace kin::app
