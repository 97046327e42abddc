// The settings of an index, fixed when it is created.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "embed/embedder_spec.h"
#include "index/shard.h"

namespace kin::search {

// A space of vectors that come with the documents.
struct SpaceConfig {
  std::string name = {};
  std::uint32_t dimension = 0;
  index::Distance distance = index::Distance::kCosine;
  std::uint8_t bits = 7;
  index::RawStorage storage = index::RawStorage::kElsewhere;
  friend bool operator==(const SpaceConfig&, const SpaceConfig&) = default;
};

inline constexpr std::string_view kMainSpace = "main";
// The file of an index that has its settings, and the folder of its shard.
inline constexpr const char* kConfigName = "index.json";
inline constexpr const char* kShardName = "shard";

struct IndexConfig {
  embed::EmbedderSpec embed = {};  // the source of the main space's vectors
  // The main space. Its dimension is that of the embedder, unless vectors are given.
  SpaceConfig main{.name = std::string(kMainSpace)};
  std::vector<SpaceConfig> more = {};
  std::string language = "english";
  std::optional<index::NearDuplicateOptions> dedup = {};
  // An index on nodes with vectors of a corpus model: the hash of the model's bytes.
  std::optional<Hash128> model = {};

  bool has_vectors() const { return embed.kind != embed::EmbedderKind::kNone; }
};

// Sets `embed` and the storage of the main space. If `embed` is empty, a `dimension` above 0 means
// that vectors are given. kInvalidArgument if the two contradict each other.
Status choose_vectors(IndexConfig& config, const std::string& embed, std::uint32_t dimension);

// kInvalidArgument names the setting that is wrong.
Status check(const IndexConfig& config);

// The options of a space whose vectors come with the documents.
index::SpaceOptions space_options(const SpaceConfig& config);
// The options of a node's shard, whose vectors all come with the documents, and whose
// near-duplicates are looked for by routers. kFailedPrecondition for settings that only an index on
// one machine can have: vectors learnt from the documents without a model.
Result<index::ShardOptions> node_shard_options(const IndexConfig& config);

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
