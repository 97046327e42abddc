#include "search/index_config.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>

#include "base/hash.h"
#include "base/json_writer.h"
#include "data/json_value.h"

namespace kin::search {
namespace {

using data::JsonValue;
using embed::EmbedderKind;
using embed::EmbedderSpec;
using index::Distance;
using index::NearDuplicateOptions;
using index::RawStorage;

constexpr int kVersion = 1;

// Names of values, in both directions.
template <typename T, std::size_t N>
struct Names {
  std::string_view of;  // what they name
  std::array<std::pair<std::string_view, T>, N> pairs;

  std::string_view name(T value) const {
    for (const auto& [text, known] : pairs)
      if (known == value) return text;
    return {};
  }
  Result<T> value(std::string_view text) const {
    std::string all;
    for (const auto& [name, known] : pairs) {
      if (name == text) return known;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    return Error{Code::kInvalidArgument, fmt::format("\"{}\" is not a {}: {}", text, of, all)};
  }
};

constexpr Names<Distance, 3> kDistances{
    "distance", {{{"cosine", Distance::kCosine}, {"l2", Distance::kL2}, {"dot", Distance::kDot}}}};
constexpr Names<RawStorage, 3> kStorages{
    "place for vectors",
    {{{"disk", RawStorage::kElsewhere}, {"f32", RawStorage::kF32}, {"f16", RawStorage::kF16}}}};
constexpr Names<NearDuplicateOptions::Action, 2> kActions{
    "way to treat near-duplicates",
    {{{"link", NearDuplicateOptions::Action::kLink},
      {"refuse", NearDuplicateOptions::Action::kRefuse}}}};

void write_space(JsonWriter& json, const SpaceConfig& space) {
  json.begin_object().field("name", space.name).field("dimension", space.dimension);
  json.field("distance", name_of(space.distance)).field("bits", static_cast<int>(space.bits));
  json.field("storage", name_of(space.storage)).end();
}

std::string body_of(const IndexConfig& config) {
  JsonWriter json;
  json.begin_object().field("version", kVersion).field("embed", config.embed.text());
  write_space(json.key("main"), config.main);
  json.key("more").begin_array();
  for (const SpaceConfig& space : config.more) write_space(json, space);
  json.end().field("language", config.language);
  json.key("dedup");
  if (config.dedup) {
    json.begin_object().field("action", name_of(config.dedup->action));
    json.field("threshold", config.dedup->threshold).end();
  } else {
    json.null();
  }
  if (config.model)
    json.field("model", fmt::format("{:016x}{:016x}", config.model->high, config.model->low));
  return json.end().take();
}

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the settings of the index are damaged: {}", what)};
}

Result<SpaceConfig> space_in(const JsonValue& json) {
  SpaceConfig space{.name = std::string(json["name"].text())};
  // The checksum holds, but a settings file may have been edited together with it.
  const double* dimension = json["dimension"].number();
  const double* bits = json["bits"].number();
  if (dimension == nullptr || bits == nullptr || *dimension < 0 ||
      *dimension > index::kMostDimensions || *bits < 1 || *bits > 8)
    return damaged("a space of vectors has no dimension or bits");
  space.dimension = static_cast<std::uint32_t>(*dimension);
  space.bits = static_cast<std::uint8_t>(*bits);
  KIN_TRY(space.distance, distance_named(json["distance"].text()));
  KIN_TRY(space.storage, storage_named(json["storage"].text()));
  return space;
}

Result<std::optional<NearDuplicateOptions>> dedup_in(const JsonValue& json) {
  if (json.is_null()) return std::optional<NearDuplicateOptions>();
  NearDuplicateOptions options;
  const double* threshold = json["threshold"].number();
  if (threshold == nullptr) return damaged("near-duplicates have no threshold");
  options.threshold = *threshold;
  KIN_TRY(options.action, action_named(json["action"].text()));
  return std::optional(options);
}

Result<std::optional<Hash128>> model_in(const JsonValue& json) {
  if (json.is_null()) return std::optional<Hash128>();
  const std::string_view text = json.text();
  Hash128 hash;
  const auto read = [&](std::size_t from, std::uint64_t& half) {
    const char* const begin = text.data() + from;
    const auto [end, failure] = std::from_chars(begin, begin + 16, half, 16);
    return failure == std::errc() && end == begin + 16;
  };
  if (text.size() != 32 || !read(0, hash.high) || !read(16, hash.low))
    return damaged("the hash of the model is not one");
  return std::optional(hash);
}

// The dimension of an embedder's vectors is not known before it is opened: it is taken for valid.
Status check_space(const SpaceConfig& space, bool dimension_known) {
  if (space.name.empty() || space.name.size() > 64)
    return Error{Code::kInvalidArgument, "a space of vectors needs a name of up to 64 letters"};
  const index::VectorSpace full{.dimension = dimension_known ? space.dimension : 1,
                                .distance = space.distance,
                                .storage = space.storage,
                                .bits = space.bits};
  return index::check_space(full);
}

}  // namespace

std::string_view name_of(Distance distance) {
  return kDistances.name(distance);
}
Result<Distance> distance_named(std::string_view name) {
  return kDistances.value(name);
}
std::string_view name_of(RawStorage storage) {
  return kStorages.name(storage);
}
Result<RawStorage> storage_named(std::string_view name) {
  return kStorages.value(name);
}
std::string_view name_of(NearDuplicateOptions::Action action) {
  return kActions.name(action);
}
Result<NearDuplicateOptions::Action> action_named(std::string_view name) {
  return kActions.value(name);
}

Status choose_vectors(IndexConfig& config, const std::string& embed, std::uint32_t dimension) {
  const std::string_view usual =
      name_of(dimension > 0 ? EmbedderKind::kGiven : EmbedderKind::kCorpus);
  KIN_TRY(config.embed, EmbedderSpec::parse(embed.empty() ? usual : embed));
  const bool given = config.embed.kind == EmbedderKind::kGiven;
  if (given && dimension == 0)
    return Error{Code::kInvalidArgument,
                 "vectors that come with documents need a dimension: the number of their values "
                 "(use --dim N)"};
  if (!given && dimension > 0)
    return Error{
        Code::kInvalidArgument,
        fmt::format("--dim is for vectors that come with documents; \"{}\" has its own dimension",
                    config.embed.text())};
  config.main.dimension = dimension;
  // Vectors that can be computed again need not be stored elsewhere.
  config.main.storage =
      given || config.embed.kind == EmbedderKind::kHttp ? RawStorage::kElsewhere : RawStorage::kF16;
  return Done{};
}

Status check(const IndexConfig& config) {
  if (config.has_vectors())
    KIN_RETURN_IF_ERROR(check_space(config.main, config.embed.kind == EmbedderKind::kGiven));
  // The name of the main space is taken even if the index has no vectors.
  std::set<std::string_view> names{config.main.name};
  for (const SpaceConfig& space : config.more) {
    KIN_RETURN_IF_ERROR(check_space(space, true));
    if (!names.insert(space.name).second)
      return Error{Code::kInvalidArgument,
                   fmt::format("there are two spaces of vectors called \"{}\"", space.name)};
  }
  if (config.dedup && !(config.dedup->threshold >= 0.3 && config.dedup->threshold <= 1))
    return Error{Code::kInvalidArgument, "the threshold of near-duplicates is from 0.3 to 1"};
  return index::check_options(index::text_options({.language = config.language}));
}

// The checksum has a line of its own, so that the settings stay a JSON text that people can read.
index::SpaceOptions space_options(const SpaceConfig& config) {
  return {.name = config.name,
          .space = {.dimension = config.dimension,
                    .distance = config.distance,
                    .storage = config.storage,
                    .bits = config.bits}};
}

Result<index::ShardOptions> node_shard_options(const IndexConfig& config) {
  using embed::EmbedderKind;
  if (config.embed.kind == EmbedderKind::kCorpus && !config.model)
    return Error{Code::kFailedPrecondition,
                 "an index on nodes learns its vectors from a sample of the documents, before it "
                 "is made: use --sample FILE, or another --embed"};
  index::ShardOptions options{
      .language = config.language, .near_duplicates = config.dedup, .screens = false};
  // The router makes the vectors and sends them with the documents.
  if (config.has_vectors()) options.spaces.push_back(space_options(config.main));
  for (const SpaceConfig& space : config.more) options.spaces.push_back(space_options(space));
  return options;
}

std::string encode(const IndexConfig& config) {
  const std::string body = body_of(config);
  return fmt::format("{}\n{:016x}\n", body, checksum(body));
}

Result<IndexConfig> decode_config(std::string_view bytes) {
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return damaged("there is no checksum");
  const std::string_view body = bytes.substr(0, line);
  if (bytes.substr(line + 1) != fmt::format("{:016x}\n", checksum(body)))
    return damaged("the checksum is wrong");
  KIN_TRY(const JsonValue json, data::parse_json(body));
  // Before all other fields: another version may name them differently.
  const double* version = json["version"].number();
  if (version == nullptr || *version != kVersion)
    return Error{Code::kFailedPrecondition,
                 "the index was made by another version of kindred (this one reads version 1)"};
  IndexConfig config;
  KIN_TRY(config.embed, EmbedderSpec::parse(json["embed"].text()));
  KIN_TRY(config.main, space_in(json["main"]));
  for (const JsonValue& space : json["more"].items()) {
    KIN_TRY(SpaceConfig more, space_in(space));
    config.more.push_back(std::move(more));
  }
  config.language = json["language"].text();
  KIN_TRY(config.dedup, dedup_in(json["dedup"]));
  KIN_TRY(config.model, model_in(json["model"]));
  KIN_RETURN_IF_ERROR(check(config));
  return config;
}

}  // namespace kin::search
