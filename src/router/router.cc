#include "router/router.h"

#include <fmt/format.h>

#include <algorithm>

#include "router/calls/blobs.h"
#include "router/calls/shards.h"
#include "router/query/edge_reader.h"
#include "router/query/pipeline.h"
#include "router/query/reading.h"
#include "router/query/routed_search.h"
#include "router/query/showing.h"
#include "router/query/walks.h"
#include "router/writes/batch_write.h"
#include "router/writes/screened_writes.h"

namespace kin::router {
namespace {

class State final : public Router {
 public:
  State(std::string index, MetaStore& meta, Connect connect, const RouterOptions& options)
      : shards_(std::move(index), meta, std::move(connect), options) {}

  Status load() {
    if (const auto& near = shards_.options().near_duplicates) {
      KIN_TRY(screened_, ScreenedWrites::create(shards_, *near));
    }
    return shards_.refresh();
  }

  Result<Written> write(std::span<const index::Mutation> mutations) override {
    return screened_ ? screened_->write(mutations) : BatchWrite(shards_, mutations).run();
  }
  Result<std::vector<std::optional<index::StoredEntity>>> get(std::span<const DocId> ids,
                                                              const index::Want& want,
                                                              Staleness* staleness) override;
  Result<RoutedHits> search(const index::ShardQuery& query, const SearchOptions& options) override {
    return RoutedSearch(shards_, query, options).run();
  }
  Result<RoutedHits> run_pipeline(std::span<const index::Stage> stages,
                                  const std::optional<Show>& show,
                                  Staleness* staleness) override {
    return RoutedPipeline(shards_, stages, show, staleness).run();
  }
  Result<Presented> present(std::span<const index::ShardHit> hits, const Show& show,
                            Staleness* staleness) override;
  Result<index::Traversal> traverse(const index::TraverseRequest& request,
                                    Staleness* staleness) override {
    return walking(request.filter, staleness,
                   [&](EdgeReader& reader) { return walk(reader, request); });
  }
  Result<std::optional<index::Path>> shortest_path(const index::PathRequest& request,
                                                   Staleness* staleness) override {
    return walking(request.filter, staleness,
                   [&](EdgeReader& reader) { return find_path(reader, request); });
  }
  Result<std::vector<std::optional<About>>> about(std::span<const DocId> ids,
                                                  const index::Want& want,
                                                  Staleness* staleness) override;
  Result<EntityPage> list(const ListRequest& request, Staleness* staleness) override;
  std::vector<Result<Health>> health() override {
    return ask_each(HealthRequest{}, shards_.options().attempt);
  }
  std::vector<Result<StatsReply>> stats(const StatsRequest& request) override {
    return ask_each(request, shards_.options().timeout);
  }
  std::vector<Result<CheckReply>> check() override {
    return ask_each(CheckRequest{}, std::chrono::hours{1});
  }
  ShardMap map() const override { return shards_.known()->map; }

 private:
  // Every shard's reply to one call, or why there is none.
  template <typename Asked>
  std::vector<Result<typename Asked::Reply>> ask_each(const Asked& request,
                                                      std::chrono::nanoseconds patience);

  // Walks with the map of the moment, and again if that changes meanwhile.
  template <typename Walk>
  auto walking(const index::EdgeFilter& filter, Staleness* staleness, const Walk& walk)
      -> decltype(walk(std::declval<EdgeReader&>()));

  Shards shards_;
  std::unique_ptr<ScreenedWrites> screened_;  // null: near-duplicates are written like others
};

template <typename Walk>
auto State::walking(const index::EdgeFilter& filter, Staleness* staleness, const Walk& walk)
    -> decltype(walk(std::declval<EdgeReader&>())) {
  using Found = std::decay_t<decltype(*walk(std::declval<EdgeReader&>()))>;
  return shards_.with_map(
      [&](const KnownPointer& known, SteadyTime deadline) -> Result<std::optional<Found>> {
        EdgeReader reader(shards_, known, filter, {deadline, staleness});
        auto found = walk(reader);
        if (reader.map_changed()) return std::optional<Found>();
        if (!found.ok()) return found.error();
        return std::optional<Found>(std::move(*found));
      });
}

Result<std::vector<std::optional<index::StoredEntity>>> State::get(std::span<const DocId> ids,
                                                                   const index::Want& want,
                                                                   Staleness* staleness) {
  return shards_.with_map([&](const KnownPointer& known, SteadyTime deadline) {
    return read_entities<GetRequest>(shards_, known, ids, want, {deadline, staleness});
  });
}

Result<std::vector<std::optional<About>>> State::about(std::span<const DocId> ids,
                                                       const index::Want& want,
                                                       Staleness* staleness) {
  return shards_.with_map([&](const KnownPointer& known, SteadyTime deadline) {
    return read_entities<AboutRequest>(shards_, known, ids, want, {deadline, staleness});
  });
}

Result<EntityPage> State::list(const ListRequest& request, Staleness* staleness) {
  std::uint64_t divided = 0;
  const auto read = [&](const KnownPointer& known,
                        SteadyTime deadline) -> Result<std::optional<index::ScanPage>> {
    if (static_cast<std::size_t>(request.partition) >= known->map.partitions.size())
      return Error{Code::kInvalidArgument, "the index has no such partition"};
    if (known->map.dividing && known->map.dividing->members.contains(request.partition))
      return Error{Code::kUnavailable,
                   fmt::format("partition {} is being divided, and its documents are not listed "
                               "meanwhile: try again in a minute",
                               static_cast<std::uint32_t>(request.partition))};
    divided = known->map.divided;
    ListRequest heads = request;
    heads.want = {.vectors = false, .summaries = false};
    const std::vector<Ask<ListRequest>> asks{{known->map.shard_of(request.partition), heads}};
    auto told = shards_.ask(known, asks, {deadline, staleness});
    if (told[0].map_changed) return std::optional<index::ScanPage>();
    if (!told[0].reply.ok())
      return with_context(known->map.shards[asks[0].shard], told[0].reply.error());
    return std::optional(std::move(*told[0].reply));
  };
  KIN_TRY(const index::ScanPage page, shards_.with_map(read));
  std::vector<DocId> ids;
  for (const index::StoredEntity& one : page.entities) ids.push_back(one.entity.id);
  KIN_TRY(auto abouts, about(ids, request.want, staleness));
  EntityPage found{.divided = divided, .next = page.next};
  for (auto& one : abouts) {
    if (one) found.entities.push_back(std::move(*one));
  }
  return found;
}

Result<Presented> State::present(std::span<const index::ShardHit> hits, const Show& show,
                                 Staleness* staleness) {
  return shards_.with_map([&](const KnownPointer& known, SteadyTime deadline) {
    return read_shown(shards_, known, hits, show, {deadline, staleness});
  });
}

template <typename Asked>
std::vector<Result<typename Asked::Reply>> State::ask_each(const Asked& request,
                                                           std::chrono::nanoseconds patience) {
  using Answer = typename Asked::Reply;
  // Nobody may have been refused since partitions moved, and people want to see where they are. If
  // the meta store is away, the last map is as good as any.
  [[maybe_unused]] const Status refreshed = shards_.refresh();
  const KnownPointer known = shards_.known();
  CallOptions options{.map_epoch = known->map.epoch,
                      .deadline = shards_.options().clock->steady_now() + patience};
  std::vector<Started<Answer>> under_way;
  for (std::uint32_t shard = 0; shard < known->clients.size(); ++shard) {
    options.shard = known->map.identity_of(shard);
    under_way.push_back(start(*known->clients[shard], Asked(request), options));
  }
  std::vector<Result<Answer>> all;
  for (auto& one : under_way) {
    auto reply = one.wait();
    if (!reply.ok())
      all.emplace_back(reply.error());
    else if (auto* answer = std::get_if<Answer>(&*reply))
      all.emplace_back(std::move(*answer));
    else
      all.emplace_back(Error{Code::kInternal, "a shard refused to say how it is"});
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Router>> Router::open(std::string index, MetaStore& meta, Connect connect,
                                             const RouterOptions& options) {
  auto state = std::make_unique<State>(std::move(index), meta, std::move(connect), options);
  KIN_RETURN_IF_ERROR(state->load());
  return std::unique_ptr<Router>(std::move(state));
}

Result<std::vector<Hash128>> read_identities(const Connect& connect,
                                             const std::vector<std::string>& shards,
                                             const RouterOptions& options) {
  const CallOptions how{.deadline = options.clock->steady_now() + options.timeout};
  std::vector<Hash128> identities;
  for (const std::string& address : shards) {
    const auto reply = call(*connect(address), HealthRequest{}, how);
    if (!reply.ok()) return with_context(address, reply.error());
    const auto* health = std::get_if<Health>(&*reply);
    if (health == nullptr || health->shard == Hash128{} ||
        std::ranges::find(identities, health->shard) != identities.end())
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: the node has no shard of its own there: is it an older one, or "
                               "the same as another one?",
                               address)};
    identities.push_back(health->shard);
  }
  return identities;
}

Result<std::string> read_blob(const Connect& connect, const ShardMap& map, const Hash128& hash,
                              const RouterOptions& options) {
  std::vector<std::shared_ptr<ShardClient>> clients;
  for (const std::string& address : map.shards) clients.push_back(connect(address));
  return read_blob(clients, {.map_epoch = map.epoch}, hash, options);
}

Status create_index(MetaStore& meta, const Connect& connect, NewIndex index,
                    const RouterOptions& options) {
  ShardMap& map = index.map;
  if (map.shards.empty() || map.partitions.empty())
    return Error{Code::kInvalidArgument, "an index needs shards and partitions"};
  KIN_TRY(const auto known, meta.get(map_key(map.index)));
  const Error exists{Code::kFailedPrecondition,
                     fmt::format("there is an index named {} already", map.index)};
  if (known) return exists;
  CallOptions how{.map_epoch = map.epoch,
                  .deadline = options.clock->steady_now() + options.timeout};
  if (index.centroids) {
    if (index.centroids->size() != map.partitions.size())
      return Error{Code::kInvalidArgument, "an index has as many centroids as partitions"};
    index.blobs.push_back(index.centroids->encode());
    map.centroids = hash128(index.blobs.back());
  }
  for (const std::string& bytes : index.blobs) {
    for (const std::string& address : map.shards) {
      const auto stored =
          call(*connect(address), StoreBlobRequest{.hash = hash128(bytes), .bytes = bytes}, how);
      if (!stored.ok()) return with_context(address, stored.error());
    }
  }
  KIN_TRY(const auto written, meta.swap(map_key(map.index), 0, encode(map)));
  if (!written) return exists;
  // The index is made. A shard that does not answer now is told by the first router that asks it.
  for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard) {
    how.shard = map.identity_of(shard);
    [[maybe_unused]] const auto told =
        call(*connect(map.shards[shard]), map.assignment_of(shard), how);
  }
  return Done{};
}

}  // namespace kin::router
