#include "app/fingerprints/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>

#include "base/ascii.h"
#include "base/file.h"
#include "base/memory.h"
#include "data/remote_files.h"

namespace kin::app {
namespace {

// Reads the settings of one mapping. The first problem is kept.
class Section {
 public:
  Section(YAML::Node node, std::string path, std::string file, std::optional<Error>& problem)
      : node_(std::move(node)), path_(std::move(path)), file_(std::move(file)), problem_(problem) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap())
      fail(node_, fmt::format("{} must be a mapping of settings", path_));
  }

  void read(const std::string& name, std::string& out) {
    if (const auto node = scalar(name, "a text")) out = node->Scalar();
  }
  void read(const std::string& name, std::optional<std::string>& out) {
    if (const auto node = scalar(name, "a text")) out = node->Scalar();
  }
  void read(const std::string& name, bool& out) {
    const auto node = scalar(name, "true or false");
    if (node && !YAML::convert<bool>::decode(*node, out))
      fail(*node, fmt::format("{} must be true or false", full(name)));
  }
  void read(const std::string& name, std::optional<std::chrono::days>& out) {
    const auto node = scalar(name, "a number of days");
    if (!node) return;
    int days = 0;
    if (YAML::convert<int>::decode(*node, days) && days >= 1 && days <= 36'500) {
      out = std::chrono::days(days);
    } else {
      fail(*node, fmt::format("{} must be a number of days from 1 to 36500", full(name)));
    }
  }
  void read_bytes(const std::string& name, std::optional<std::uint64_t>& out) {
    const auto node = scalar(name, "an amount of memory");
    if (!node) return;
    if (const auto bytes = parse_bytes(node->Scalar())) {
      out = *bytes;
    } else {
      fail(*node, fmt::format("{}: {}", full(name), bytes.error().message));
    }
  }
  void read(const std::string& name, std::vector<std::string>& out) {
    const YAML::Node node = find(name);
    if (!node.IsDefined() || node.IsNull()) return;
    if (!node.IsSequence()) return fail(node, fmt::format("{} must be a list", full(name)));
    for (const YAML::Node& item : node) {
      if (!item.IsScalar())
        return fail(item, fmt::format("{} must be a list of texts", full(name)));
      out.push_back(item.Scalar());
    }
  }
  template <typename T>
  void read(const std::string& name, T& out, const std::map<std::string, T>& choices) {
    const auto node = scalar(name, "a text");
    if (!node) return;
    if (const auto chosen = choices.find(node->Scalar()); chosen != choices.end()) {
      out = chosen->second;
      return;
    }
    std::vector<std::string> names;
    for (const auto& [choice, value] : choices) names.push_back(choice);
    fail(*node, fmt::format("{} is \"{}\", and must be one of: {}", full(name), node->Scalar(),
                            fmt::join(names, ", ")));
  }
  // Whether the setting is there.
  bool has(const std::string& name) {
    const YAML::Node node = find(name);
    return node.IsDefined() && !node.IsNull();
  }
  Section inner(const std::string& name) { return {find(name), full(name), file_, problem_}; }
  void require(const std::string& name, std::string_view why) {
    if (!has(name)) fail(node_, fmt::format("{} is missing: {}", full(name), why));
  }
  void refuse(const std::string& name, std::string_view why) {
    fail(find(name), fmt::format("{} {}", full(name), why));
  }
  // After the last read: reports settings that were never read.
  void finish() {
    if (!node_.IsDefined() || !node_.IsMap()) return;
    for (const auto& member : node_) {
      const std::string name = member.first.IsScalar() ? member.first.Scalar() : "?";
      if (known_.contains(name)) continue;
      std::vector<std::string> names;
      for (const auto& [known, asked] : known_) names.push_back(known);
      fail(member.first,
           fmt::format("{} is not a setting (there are: {})", full(name), fmt::join(names, ", ")));
    }
  }

 private:
  std::string full(const std::string& name) const {
    return path_.empty() ? name : path_ + "." + name;
  }
  YAML::Node find(const std::string& name) {
    known_[name] = true;
    if (!node_.IsDefined() || !node_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    const YAML::Node& lookup = node_;  // the non-const operator would add missing settings
    return lookup[name];
  }
  std::optional<YAML::Node> scalar(const std::string& name, std::string_view what) {
    YAML::Node node = find(name);
    if (!node.IsDefined() || node.IsNull()) return std::nullopt;
    if (node.IsScalar()) return node;
    fail(node, fmt::format("{} must be {}", full(name), what));
    return std::nullopt;
  }
  void fail(const YAML::Node& at, std::string_view what) {
    if (problem_) return;
    const int line = at.IsDefined() ? at.Mark().line + 1 : 1;
    problem_ = Error{Code::kInvalidArgument, fmt::format("{}:{}: {}", file_, line, what)};
  }

  YAML::Node node_;
  std::string path_;
  std::string file_;
  std::optional<Error>& problem_;
  std::map<std::string, bool> known_;
};

void read_storage(Section section, StoresConfig::Storage& storage) {
  using Style = StoresConfig::Storage::Style;
  std::string type = "s3";
  section.read("type", type, std::map<std::string, std::string>{{"s3", "s3"}});
  section.read("bucket", storage.bucket);
  section.read("prefix", storage.prefix);
  section.read("region", storage.region);
  section.read("endpoint", storage.endpoint);
  section.read(
      "style", storage.style,
      std::map<std::string, Style>{{"path", Style::kPath}, {"virtual_host", Style::kVirtualHost}});
  section.read_bytes("cache_size", storage.cache_bytes);
  section.finish();
}

void read_dynamodb(Section section, StoresConfig::DynamoDb& dynamodb) {
  section.read("region", dynamodb.region);
  section.read("endpoint", dynamodb.endpoint);
  section.read("simhash_table", dynamodb.simhash_table);
  section.read("minhash_table", dynamodb.minhash_table);
  section.read("chunk_table", dynamodb.chunk_table);
  section.read("processed_table", dynamodb.processed_table);
  section.finish();
}

void read_cache(Section section, StoresConfig& config) {
  if (section.has("redis")) {
    StoresConfig::Redis redis;
    Section inner = section.inner("redis");
    inner.require("address", "HOST:PORT of the server");
    std::string address;
    inner.read("address", address);
    const std::size_t colon = address.rfind(':');
    const auto port =
        colon == std::string::npos
            ? std::nullopt
            : parse_number<std::uint16_t>(std::string_view(address).substr(colon + 1));
    if (port && *port > 0 && colon > 0) {
      redis.host = address.substr(0, colon);
      redis.port = *port;
    } else {
      inner.refuse("address", "must be HOST:PORT");
    }
    inner.read("tls", redis.tls);
    inner.read("password_env", redis.password_env);
    inner.finish();
    config.redis = redis;
  }
  section.finish();
}

void read_all(Section section, StoresConfig& config) {
  using Backend = StoresConfig::Backend;
  section.read("enabled", config.enabled);
  section.read(
      "backend", config.backend,
      std::map<std::string, Backend>{
          {"local", Backend::kLocal}, {"s3", Backend::kS3}, {"dynamodb", Backend::kDynamoDb}});
  std::string root = "fingerprints_global";
  section.read("root_path", root);
  config.root_path = root;
  read_storage(section.inner("storage"), config.storage);
  read_dynamodb(section.inner("dynamodb"), config.dynamodb);
  read_cache(section.inner("cache"), config);
  Section ttl = section.inner("ttl_days");
  ttl.read("fingerprints", config.fingerprints_ttl);
  ttl.read("processed", config.processed_ttl);
  ttl.finish();
  Section priorities = section.inner("priorities");
  priorities.read("types", config.priorities.types);
  priorities.read("sources", config.priorities.sources);
  priorities.finish();
  section.read("checkpoints", config.checkpoints);
  section.read("type_column", config.type_column);
  section.read("language_column", config.language_column);
  if (config.backend == Backend::kS3) section.inner("storage").require("bucket", "name the bucket");
  section.finish();
}

}  // namespace

Result<StoresConfig> parse_stores_config(std::string_view yaml, const std::filesystem::path& name) {
  StoresConfig config;
  std::optional<Error> problem;
  try {
    Section file(YAML::Load(std::string(yaml)), "", name.string(), problem);
    file.require("global_fingerprints", "the file says nothing about a store");
    read_all(file.inner("global_fingerprints"), config);
    file.finish();
  } catch (const YAML::Exception& exception) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}:{}: {}", name.string(), exception.mark.line + 1, exception.msg)};
  }
  if (problem) return *problem;
  config.root_path = name.parent_path() / config.root_path;
  if (!config.checkpoints.empty() && !data::is_remote(config.checkpoints))
    config.checkpoints = (name.parent_path() / config.checkpoints).string();
  return config;
}

Result<StoresConfig> read_stores_config(const std::filesystem::path& path) {
  KIN_TRY(const std::string yaml, read_file(path));
  return parse_stores_config(yaml, path);
}

}  // namespace kin::app
