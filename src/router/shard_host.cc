#include "router/shard_host.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/bytes.h"
#include "base/hash.h"
#include "index/about.h"
#include "index/find.h"
#include "index/text_leg.h"

namespace kin::router {
namespace {

// What is kept for a move that nobody carries on is dropped.
constexpr std::chrono::minutes kKeptIdle{2};

Reply<Response> done(Response response) {
  return std::variant<Response, Refused>(std::move(response));
}
Reply<Response> refused(const Refused& why) {
  return std::variant<Response, Refused>(why);
}

// The entity that an edge leaves which is put or spoken about; null for other mutations.
const DocId* edge_source(const index::Mutation& mutation) {
  if (const auto* put = std::get_if<index::PutEdge>(&mutation)) return &put->edge.id.from;
  if (const auto* set = std::get_if<index::SetEdges>(&mutation)) return &set->from;
  if (const auto* add = std::get_if<index::AddEdgeFragment>(&mutation)) return &add->from;
  return nullptr;
}

// The places of the mutations that can be applied. Edges of entities that do not exist are left
// out: a shard would file them under partition 0, which another shard may own.
Result<std::vector<std::size_t>> applicable(const index::TruthView& view,
                                            const std::vector<index::Mutation>& mutations) {
  std::vector<DocId> sources;
  for (const auto& mutation : mutations) {
    if (const DocId* from = edge_source(mutation)) sources.push_back(*from);
  }
  KIN_TRY(const auto heads, view.heads(sources));
  std::unordered_set<DocId> there;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (heads[i]) there.insert(sources[i]);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    if (const auto* put = std::get_if<index::PutEntity>(&mutations[i]))
      there.insert(put->entity.id);
    const DocId* from = edge_source(mutations[i]);
    if (from == nullptr || there.contains(*from)) places.push_back(i);
  }
  return places;
}

Status check_write(const WriteRequest& request) {
  for (const auto& mutation : request.mutations) {
    if (std::holds_alternative<index::AssignOwner>(mutation))
      return Error{Code::kInvalidArgument, "a write does not assign owners"};
    const auto* put = std::get_if<index::PutEntity>(&mutation);
    if (put != nullptr && (!put->partition || !request.partitions.contains(*put->partition)))
      return Error{Code::kInvalidArgument, "an entity comes without its partition"};
  }
  return Done{};
}

// Both clocks: one of them may repeat a time after the machine was restarted.
std::uint64_t moment_of(const Clock& clock) {
  std::string bytes;
  append_le(bytes, static_cast<std::uint64_t>(clock.now().time_since_epoch().count()));
  append_le(bytes, static_cast<std::uint64_t>(clock.steady_now().time_since_epoch().count()));
  return hash64(bytes);
}

// Requests that a copy answers: they change nothing, and are not about what the shard owns.
bool is_for_copies(const Request& request) {
  return std::holds_alternative<HealthRequest>(request) ||
         std::holds_alternative<StatsRequest>(request) ||
         std::holds_alternative<DigestRequest>(request) ||
         std::holds_alternative<CheckRequest>(request);
}

void explain_scores(const index::ShardView& view, const index::TextQuery& query,
                    const std::optional<index::TextStatistics>& statistics,
                    Presented& presented) {
  for (const auto& document : presented.documents) {
    auto& explanation = presented.explanations.emplace_back();
    if (document)
      explanation =
          index::explain_text(view, query, *document, statistics ? &*statistics : nullptr);
  }
}

// Reads documents, and makes snippets and explanations of them if `text` is given.
Result<Presented> present(const index::ShardView& view,
                          std::span<const index::DocIdentity> documents, const Show& show,
                          const std::optional<index::TextStatistics>& statistics) {
  Presented presented;
  KIN_TRY(presented.documents, index::read_documents(view.truth(), documents));
  if (show.text) {
    const index::TextOptions& fields = view.text().options();
    KIN_TRY(index::TextQuery query, index::parse_leg(*show.text, fields));
    if (show.explain) explain_scores(view, query, statistics, presented);
    query = index::without_common(std::move(query), fields.language);
    KIN_TRY(presented.snippets,
            index::make_snippets(fields, query, presented.documents, show.snippets));
  }
  for (auto& document : presented.documents) {
    if (!document) continue;
    if (auto* entity = std::get_if<index::StoredEntity>(&*document)) entity->entity.text.clear();
  }
  return presented;
}

// Shows the shard's own best hits.
Status show_best(const index::ShardView& view, const FindRequest& request, const Show& show,
                 FindReply& reply) {
  const index::ShardHits hits = index::fuse({&reply.found, 1}, request.query);
  std::vector<index::DocIdentity> best;
  for (const index::ShardHit& hit : hits.hits) {
    if (best.size() == show.most) break;
    best.push_back(hit.doc);
  }
  const auto& candidates = reply.found.candidates;
  for (const index::DocIdentity& doc : best)
    reply.shown.push_back(
        static_cast<std::uint32_t>(std::ranges::find(candidates, doc) - candidates.begin()));
  KIN_TRY(reply.presented, present(view, best, show, request.statistics));
  return Done{};
}

// Edges that begin in other partitions belong to another shard's answer.
Status keep_own(const index::TruthView& view, const Partitions& partitions, EdgeLists& lists) {
  std::vector<DocId> sources;
  for (const auto& list : lists.edges) {
    for (const auto& edge : list) sources.push_back(edge.id.from);
  }
  std::ranges::sort(sources);
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  KIN_TRY(const auto heads, view.heads(sources));
  std::unordered_set<DocId> own;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (heads[i] && partitions.contains(heads[i]->partition)) own.insert(sources[i]);
  }
  for (auto& list : lists.edges) {
    std::erase_if(list, [&](const auto& edge) { return !own.contains(edge.id.from); });
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<ShardHost>> ShardHost::open(const std::filesystem::path& folder,
                                                   index::ShardOptions options,
                                                   const Hash128& identity,
                                                   const HostLog& log) {
  Clock& clock = *options.clock;
  index::TruthOptions files = options.truth;
  files.observer = log.directory;
  options.truth.observer = log.truth;
  options.is_copy = log.is_copy;
  KIN_TRY(auto shard, index::Shard::open(folder, std::move(options)));
  KIN_TRY(auto directory, Directory::open(folder / kDirectoryFolder, files));
  KIN_TRY(std::optional<Hash128> kept, directory->identity());
  if (!kept && log.is_copy)
    return Error{Code::kDataLoss, "a copy of a shard does not know which shard it is"};
  if (!kept) {
    KIN_TRY(kept, directory->keep_identity(identity));
  }
  std::unique_ptr<ShardHost> host(
      new ShardHost(std::move(shard), std::move(directory), *kept, clock, log.is_copy));
  KIN_RETURN_IF_ERROR(host->load_moves());
  return host;
}

ShardHost::ShardHost(std::unique_ptr<index::Shard> shard, std::unique_ptr<Directory> directory,
                     const Hash128& identity, Clock& clock, bool is_copy)
    : shard_(std::move(shard)),
      directory_(std::move(directory)),
      identity_(identity),
      clock_(clock),
      is_copy_(is_copy),
      opened_(moment_of(clock)) {
  owners_ = shard_->stats().owners;
}

Result<StepOutcome> ShardHost::step() {
  drop_kept_before(clock_.steady_now() - kKeptIdle);
  return shard_->step();
}

Status ShardHost::close() {
  drop_kept_before(SteadyTime::max());
  KIN_RETURN_IF_ERROR(shard_->close());
  return directory_->close();
}

Reply<Response> ShardHost::serve(const Request& request, const CallOptions& options) {
  if (clock_.steady_now() >= options.deadline)
    return Error{Code::kUnavailable, "the time for the request was over before it was begun"};
  if (options.shard != Hash128{} && options.shard != identity_)
    return Error{Code::kFailedPrecondition,
                 "another shard than the one in the map of the index answers at this address (give "
                 "each node the address and the data folder that it had)"};
  if (standing_) {
    KIN_RETURN_IF_ERROR(check_standing(request, options, standing_()));
  } else if (is_copy_ && !is_for_copies(request)) {
    return Error{Code::kUnavailable, "the shard is a copy, which does not serve (ask its owner)"};
  }
  if (is_behind(request, options)) return refused({});
  const SteadyTime begun = clock_.steady_now();
  auto reply = std::visit([&](const auto& one) { return answer(one, options); }, request);
  if (reply.ok()) {
    if (const auto* response = std::get_if<Response>(&*reply))
      count_work(request, *response, begun);
  }
  return reply;
}

void ShardHost::count_work(const Request& request, const Response& response, SteadyTime begun) {
  const SteadyTime now = clock_.steady_now();
  loads_.add(worked_for(request, response), now - begun, now);
}

bool ShardHost::is_behind(const Request& request, const CallOptions& options) const {
  if (options.divided == 0) return false;
  const bool is_read =
      std::visit([]<typename Asked>(const Asked&) { return kIsRead<Asked>; }, request);
  const std::lock_guard lock(owning_);
  return is_read && options.divided > divided_;
}

bool ShardHost::is_assigned() const {
  const std::lock_guard lock(owning_);
  return !owners_.empty();
}

std::optional<Refused> ShardHost::refusal(const Partitions& partitions, const CallOptions& options,
                                          Wider* wider) const {
  const std::lock_guard lock(owning_);
  std::uint64_t known = 0;
  bool all = true;
  for (const index::PartitionId partition : partitions) {
    const auto owner = owners_.find(partition);
    const bool is_known = owner != owners_.end();
    if (is_known) known = std::max(known, owner->second.epoch);
    all = all && is_known && owner->second.owned && options.map_epoch >= owner->second.epoch;
  }
  if (!all) return Refused{.epoch = known};
  // Found out at once: what ends between the two would make the answer incomplete.
  const bool is_divided = wider != nullptr && repartition_.state != RepartitionRow::State::kOver;
  const auto is_named = [&](index::PartitionId one) { return partitions.contains(one); };
  if (!is_divided || std::ranges::none_of(repartition_.members, is_named)) return {};
  wider->all = partitions;
  for (const index::PartitionId member : repartition_.members) {
    const auto owner = owners_.find(member);
    if (owner != owners_.end() && owner->second.owned) wider->all->insert(member);
  }
  return {};
}

std::optional<Refused> ShardHost::refusal(index::ShardQuery& query,
                                          const CallOptions& options) const {
  Wider wider;
  auto why = refusal(query.scope.partitions.value_or(Partitions{}), options, &wider);
  if (wider.all) query.scope.partitions = std::move(wider.all);
  return why;
}

Reply<Response> ShardHost::answer(const OpenSession&, const CallOptions&) {
  KIN_TRY(const std::uint64_t session, shard_->open_session());
  return done(SessionOpened{.session = session});
}

Reply<Response> ShardHost::answer(const WriteRequest& request, const CallOptions& options) {
  KIN_RETURN_IF_ERROR(check_write(request));
  const std::lock_guard lock(writing_);
  if (const auto why = refusal(request.partitions, options)) {
    // A refusal means that the request was not applied and never will be: the sender may apply it
    // at the next owner. Older copies of it have an older epoch.
    KIN_TRY(auto before, written_before(request));
    if (before) return done(std::move(*before));
    return refused(*why);
  }
  KIN_TRY(WriteReply reply, write(request, options));
  return done(std::move(reply));
}

Result<std::optional<WriteReply>> ShardHost::written_before(const WriteRequest& request) const {
  KIN_TRY(const bool applied, shard_->was_applied(request.id));
  if (!applied) return std::optional<WriteReply>();
  const auto last = last_writes_.find(request.id.session);
  if (last != last_writes_.end() && last->second.sequence == request.id.sequence)
    return std::optional(last->second.reply);
  return std::optional(WriteReply{.forgotten = true});
}

Result<WriteReply> ShardHost::write(const WriteRequest& request, const CallOptions& options) {
  std::vector<std::size_t> places;
  {
    const index::ShardView view = shard_->view();
    KIN_TRY(places, applicable(view.truth(), request.mutations));
  }
  if (!request.ages.empty() && request.ages.size() != request.mutations.size())
    return Error{Code::kInvalidArgument, "a write has an age for each mutation, or none"};
  std::vector<index::Mutation> kept;
  std::vector<std::uint64_t> ages = request.ages;
  if (places.size() < request.mutations.size()) {
    for (const std::size_t place : places) kept.push_back(request.mutations[place]);
    ages.clear();
    for (const std::size_t place : places) {
      if (!request.ages.empty()) ages.push_back(request.ages[place]);
    }
  }
  const std::vector<index::Mutation>& mutations =
      places.size() < request.mutations.size() ? kept : request.mutations;
  index::ApplyOptions how{
      .map_epoch = options.map_epoch, .request = request.id, .ages = std::move(ages)};
  {
    const std::lock_guard lock(owning_);
    if (repartition_.state != RepartitionRow::State::kOver) how.together = repartition_.members;
  }
  KIN_TRY(index::Applied applied, shard_->apply(mutations, how));
  if (applied.repeated) {
    // The reply was lost on its way, or this is a late copy that nobody waits for.
    KIN_TRY(auto before, written_before(request));
    return before.value_or(WriteReply{.forgotten = true});
  }
  WriteReply reply;
  reply.outcomes.assign(request.mutations.size(), {.effect = index::Effect::kAbsent});
  for (std::size_t i = 0; i < places.size(); ++i) reply.outcomes[places[i]] = applied.outcomes[i];
  for (index::Repeat& repeat : applied.repeats) {
    repeat.mutation = places[repeat.mutation];
    reply.repeats.push_back(repeat);
  }
  last_writes_[request.id.session] = {.sequence = request.id.sequence, .reply = reply};
  if (last_writes_.size() > index::kMostSessions) last_writes_.erase(last_writes_.begin());
  return reply;
}

Reply<Response> ShardHost::answer(const AssignRequest& request, const CallOptions&) {
  KIN_RETURN_IF_ERROR(assign(request));
  return done(Assigned{});
}

Status ShardHost::assign(const AssignRequest& request) {
  const std::lock_guard lock(writing_);
  std::vector<index::Mutation> mutations(request.owners.begin(), request.owners.end());
  KIN_TRY([[maybe_unused]] const auto applied, shard_->apply(mutations));
  index::Owners now = shard_->stats().owners;
  {
    const std::lock_guard owning(owning_);
    owners_ = now;
  }
  if (request.divided > divided_) {
    KIN_RETURN_IF_ERROR(directory_->keep_divided(request.divided));
    KIN_RETURN_IF_ERROR(learn_repartition());
  }
  return end_received(now);
}

Reply<Response> ShardHost::answer(const ClaimRequest& request, const CallOptions& options) {
  Partitions homes;
  for (const Claim& claim : request.claims) homes.insert(claim.home);
  // With the lock, so that no claim is granted after the partition has another owner.
  const std::lock_guard lock(writing_);
  if (const auto why = refusal(homes, options)) return refused(*why);
  KIN_TRY(Places places, directory_->claim(request.claims));
  return done(std::move(places));
}

Reply<Response> ShardHost::answer(const LocateRequest& request, const CallOptions& options) {
  Partitions homes;
  for (const Locate& one : request.entities) homes.insert(one.home);
  if (const auto why = refusal(homes, options)) return refused(*why);
  KIN_TRY(Places places, directory_->locate(request.entities));
  return done(std::move(places));
}

Reply<Response> ShardHost::answer(const GetRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.partitions, options, &wider)) return refused(*why);
  const Partitions& within = wider.of(request.partitions);
  KIN_TRY(auto entities, shard_->view().truth().get_many(request.ids, request.want));
  for (auto& entity : entities) {
    if (entity && !within.contains(entity->head.partition)) entity.reset();
  }
  return done(Entities{.entities = std::move(entities)});
}

Reply<Response> ShardHost::answer(const StatisticsRequest& request, const CallOptions& options) {
  index::ShardQuery query = request.query;
  if (const auto why = refusal(query, options)) return refused(*why);
  const index::ShardView view = shard_->view();
  KIN_TRY(auto statistics, index::read_statistics(view, query));
  return done(StatisticsReply{.text = std::move(statistics),
                              .state = statistics_state(view, query.scope)});
}

// A copy that arrives, of a partition that the shard does not own, changes nothing.
std::uint64_t ShardHost::statistics_state(const index::ShardView& view,
                                          const index::Scope& scope) const {
  return opened_ ^ view.text().statistics_state(view.sections_outside(scope.partitions));
}

Reply<Response> ShardHost::answer(const FindRequest& request, const CallOptions& options) {
  index::ShardQuery query = request.query;
  if (const auto why = refusal(query, options)) return refused(*why);
  const index::ShardView view = shard_->view();
  FindReply reply;
  const std::uint64_t state = statistics_state(view, query.scope);
  if (request.state && *request.state != state) {
    reply.changed.emplace().state = state;
    KIN_TRY(reply.changed->text, index::read_statistics(view, query));
    return done(std::move(reply));
  }
  query.statistics = request.statistics ? &*request.statistics : nullptr;
  KIN_TRY(reply.found, index::find(view, query));
  if (request.show) KIN_RETURN_IF_ERROR(show_best(view, request, *request.show, reply));
  return done(std::move(reply));
}

Reply<Response> ShardHost::answer(const SumRequest& request, const CallOptions& options) {
  index::ShardQuery query = request.query;
  if (const auto why = refusal(query, options)) return refused(*why);
  query.statistics = nullptr;
  index::ShardHits hits;
  if (request.query.count) hits.count = 0;
  for (const std::string& facet : request.query.facets) hits.facets.push_back({.name = facet});
  for (const DocId& id : request.joined) hits.hits.push_back({.doc = {.id = id}});
  KIN_RETURN_IF_ERROR(index::add_joined(shard_->view(), query, 0, hits));
  return done(Sums{.count = hits.count, .facets = std::move(hits.facets)});
}

Reply<Response> ShardHost::answer(const PresentRequest& request, const CallOptions& options) {
  if (const auto why = refusal(request.partitions, options)) return refused(*why);
  KIN_TRY(Presented presented,
          present(shard_->view(), request.documents,
                  {.text = request.text, .snippets = request.snippets, .explain = request.explain},
                  request.statistics));
  return done(std::move(presented));
}

Reply<Response> ShardHost::answer(const HeadsRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.partitions, options, &wider)) return refused(*why);
  KIN_TRY(auto heads, shard_->view().truth().heads(request.ids));
  for (auto& head : heads) {
    if (head && !wider.of(request.partitions).contains(head->partition)) head.reset();
  }
  return done(Heads{.heads = std::move(heads)});
}

Reply<Response> ShardHost::answer(const EdgesRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.partitions, options, &wider)) return refused(*why);
  const index::ShardView view = shard_->view();
  EdgeLists lists;
  for (const DocId& node : request.nodes) {
    KIN_TRY(auto list, index::edges(view.truth(), {.node = node,
                                                   .direction = request.direction,
                                                   .filter = request.filter,
                                                   .limit = request.limit}));
    lists.edges.push_back(std::move(list));
  }
  KIN_RETURN_IF_ERROR(keep_own(view.truth(), wider.of(request.partitions), lists));
  return done(std::move(lists));
}

Reply<Response> ShardHost::answer(const ListRequest& request, const CallOptions& options) {
  if (const auto why = refusal(Partitions{request.partition}, options)) return refused(*why);
  KIN_TRY(auto page, shard_->view().truth().scan({.partition = request.partition,
                                                  .after = request.after,
                                                  .limit = request.limit,
                                                  .want = request.want}));
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const ReadLogRequest& request, const CallOptions&) {
  KIN_TRY(auto page, index::read_log(shard_->view().truth(), request.log));
  return done(std::move(page));
}

Reply<Response> ShardHost::answer(const StatsRequest& request, const CallOptions&) {
  StatsReply reply{.stats = shard_->stats(), .loads = loads()};
  if (request.sizes) {
    KIN_TRY(reply.sizes, index::count_partitions(shard_->view().truth()));
  }
  return done(std::move(reply));
}

Reply<Response> ShardHost::answer(const HealthRequest&, const CallOptions&) {
  Health health{.last_lsn = shard_->view().lsn(), .shard = identity_};
  const std::lock_guard lock(owning_);
  for (const auto& [partition, owner] : owners_) {
    health.epoch = std::max(health.epoch, owner.epoch);
    health.partitions += owner.owned ? 1 : 0;
  }
  return done(health);
}

Reply<Response> ShardHost::answer(const StoreBlobRequest& request, const CallOptions&) {
  KIN_RETURN_IF_ERROR(directory_->store_blob(request.hash, request.bytes));
  return done(BlobStored{});
}

Reply<Response> ShardHost::answer(const ReadBlobRequest& request, const CallOptions&) {
  KIN_TRY(auto bytes, directory_->read_blob(request.hash));
  return done(Blob{.bytes = std::move(bytes)});
}

Reply<Response> ShardHost::answer(const ScopeRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.scope.partitions.value_or(Partitions{}), options, &wider))
    return refused(*why);
  index::Scope scope = request.scope;
  if (wider.all) scope.partitions = std::move(wider.all);
  KIN_TRY(auto ages, index::ages_in_scope(shard_->view(), scope, request.ids));
  return done(AgesInScope{.ages = std::move(ages)});
}

Reply<Response> ShardHost::answer(const AboutRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.partitions, options, &wider)) return refused(*why);
  const Partitions& within = wider.of(request.partitions);
  const index::ShardView view = shard_->view();
  KIN_TRY(auto entities, view.truth().get_many(request.ids, request.want));
  Abouts abouts;
  for (auto& entity : entities) {
    auto& about = abouts.entities.emplace_back();
    if (!entity || !within.contains(entity->head.partition)) continue;
    KIN_TRY(about, index::read_about(view.truth(), std::move(*entity), request.want.as_of));
  }
  return done(std::move(abouts));
}

Reply<Response> ShardHost::answer(const CheckRequest&, const CallOptions&) {
  KIN_TRY(auto report, shard_->check());
  return done(CheckReply{.report = std::move(report)});
}

Reply<Response> ShardHost::answer(const NearRequest& request, const CallOptions& options) {
  Wider wider;
  if (const auto why = refusal(request.partitions, options, &wider)) return refused(*why);
  KIN_TRY(auto texts, shard_->near_texts(request.sketches, wider.of(request.partitions)));
  return done(NearTexts{.texts = std::move(texts)});
}

Started<Response> LocalClient::start(Request request, const CallOptions& options) {
  auto reply = std::make_shared<Reply<Response>>(host_.serve(request, options));
  return Started<Response>([reply] { return std::move(*reply); });
}

}  // namespace kin::router
