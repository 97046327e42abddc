// What an index was created as; kept beside it and never changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/embedder_spec.h"
#include "index/shard.h"

namespace kin::search {

// Vectors that documents bring along under a name of their own.
struct SpaceConfig {
  std::string name = {};
  std::uint32_t dimension = 0;
  index::Distance distance = index::Distance::kCosine;
  std::uint8_t bits = 7;
  index::RawStorage storage = index::RawStorage::kElsewhere;
  friend bool operator==(const SpaceConfig&, const SpaceConfig&) = default;
};

inline constexpr std::string_view kMainSpace = "main";
// The file of an index that has its settings.
inline constexpr const char* kConfigName = "index.json";

struct IndexConfig {
  embed::EmbedderSpec embed = {};  // where the vectors of the main space come from
  // Of the main space; the dimension is that of `embed` unless vectors are given.
  SpaceConfig main{.name = std::string(kMainSpace)};
  std::vector<SpaceConfig> more = {};
  std::string language = "english";
  std::optional<index::NearDuplicateOptions> dedup = {};

  bool has_vectors() const { return embed.kind != embed::EmbedderKind::kNone; }
};

// Sets where the vectors of the main space come from and where they are kept: by `embed`, and if
// that is empty by whether documents bring vectors of a `dimension`. kInvalidArgument if the two do
// not fit.
Status choose_vectors(IndexConfig& config, const std::string& embed, std::uint32_t dimension);

// kInvalidArgument for one that makes no sense.
Status check(const IndexConfig& config);

// docs/formats.md, "An index's settings".
std::string encode(const IndexConfig& config);
Result<IndexConfig> decode_config(std::string_view bytes);

// "cosine", "l2", "dot".
std::string_view name_of(index::Distance distance);
Result<index::Distance> distance_named(std::string_view name);
// "disk", "f32", "f16".
std::string_view name_of(index::RawStorage storage);
Result<index::RawStorage> storage_named(std::string_view name);
// "link", "refuse".
std::string_view name_of(index::NearDuplicateOptions::Action action);
Result<index::NearDuplicateOptions::Action> action_named(std::string_view name);

}  // namespace kin::search
