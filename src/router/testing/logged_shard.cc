#include "router/testing/logged_shard.h"

#include <algorithm>

#include "index/find.h"
#include "index/query.h"
#include "router/log_reader.h"

namespace kin::router {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "/shard";

}  // namespace

index::ShardOptions LoggedShardUnderTest::shard_options() {
  index::ShardOptions options;
  options.spaces = {
      {.name = "main",
       .space = {
           .dimension = 4, .distance = index::Distance::kL2, .storage = index::RawStorage::kF32}}};
  options.near_duplicates = index::NearDuplicateOptions{.threshold = 0.8};
  options.truth.engine = engine;
  options.truth.disk = disk_.get();
  options.truth.block_cache_bytes = 1 << 16;
  options.truth.background_jobs = 1;
  options.clock = &clock_;
  return options;
}

cloud::ObjectStore& LoggedShardUnderTest::below() {
  if (!below_) below_ = cloud::objects_below(objects_, log_prefix("papers", kIdentity));
  return *below_;
}

Status LoggedShardUnderTest::start() {
  KIN_RETURN_IF_ERROR(follow());
  KIN_TRY(const bool is_copy, log_->is_copy());
  if (!is_copy) {
    drop();
    make_log();
    KIN_TRY(host_, ShardHost::open(kFolder, shard_options(), kIdentity, log_->ties(false)));
    KIN_RETURN_IF_ERROR(log_->own(*host_));
  } else {
    KIN_TRY(const std::uint64_t term, log_->next_term());
    KIN_RETURN_IF_ERROR(log_->take_over(*host_, term));
  }
  session_ = 0;
  std::vector<index::AssignOwner> owners;
  for (std::uint32_t i = 0; i < kPartitions; ++i)
    owners.push_back({.partition = index::PartitionId{i}, .epoch = 1, .owned = true});
  KIN_TRY([[maybe_unused]] const Response assigned, ask(AssignRequest{.owners = owners}));
  return Done{};
}

void LoggedShardUnderTest::make_log() {
  log_ = std::make_unique<ShardLog>(
      objects_, kIdentity,
      ShardLogOptions{.index = "papers",
                      .settings = "settings",
                      .owner = name_,
                      .folder = kFolder,
                      .disk = disk_.get(),
                      .clock = &clock_,
                      .draw = [this] { return hash128(name_, ++drawn_); },
                      .shipper = shipper,
                      .snapshots = snapshots});
}

Status LoggedShardUnderTest::follow() {
  drop();
  make_log();
  KIN_TRY(const bool is_copy, log_->is_copy());
  if (!is_copy) return Done{};
  KIN_TRY(host_, ShardHost::open(kFolder, shard_options(), kIdentity, log_->ties(true)));
  return Done{};
}

void LoggedShardUnderTest::drop() {
  host_.reset();
  log_.reset();
}

Status LoggedShardUnderTest::stop() {
  KIN_RETURN_IF_ERROR(host_->close());
  KIN_RETURN_IF_ERROR(log_->close());
  drop();
  return Done{};
}

Result<RestoredShard> LoggedShardUnderTest::restore(std::optional<WallTime> at) {
  return restore_shard(below(), kFolder, {.at = at, .files = shard_options().truth});
}

Result<Response> LoggedShardUnderTest::ask(const Request& request) {
  KIN_TRY(auto reply, host_->serve(request, {.map_epoch = 1, .deadline = SteadyTime::max()}));
  if (std::holds_alternative<Refused>(reply))
    return Error{Code::kFailedPrecondition, "the shard refuses"};
  return std::get<Response>(std::move(reply));
}

Status LoggedShardUnderTest::session() {
  if (session_ != 0) return Done{};
  KIN_TRY(const Response opened, ask(OpenSession{}));
  session_ = std::get<SessionOpened>(opened).session;
  sequence_ = 0;
  return Done{};
}

Status LoggedShardUnderTest::write(const std::string& key, const std::string& text) {
  KIN_RETURN_IF_ERROR(session());
  const index::PartitionId partition{static_cast<std::uint32_t>(hash64(key) % kPartitions)};
  index::PutEntity put;
  put.entity.id = doc_id_of("test", key);
  put.entity.key = key;
  put.entity.source = "test";
  put.entity.text = text;
  put.entity.vectors = {{"main", {static_cast<float>(text.size()), 1, 2, 3}}};
  put.partition = partition;
  KIN_TRY([[maybe_unused]] const Response claimed,
          ask(ClaimRequest{.claims = {{.id = put.entity.id, .home = partition,
                                       .partition = partition}}}));
  KIN_TRY([[maybe_unused]] const Response written,
          ask(WriteRequest{.id = {.session = session_, .sequence = ++sequence_},
                           .mutations = {put},
                           .partitions = {partition}}));
  return Done{};
}

Status LoggedShardUnderTest::remove(const std::string& key) {
  KIN_RETURN_IF_ERROR(session());
  const index::PartitionId partition{static_cast<std::uint32_t>(hash64(key) % kPartitions)};
  KIN_TRY([[maybe_unused]] const Response written,
          ask(WriteRequest{.id = {.session = session_, .sequence = ++sequence_},
                           .mutations = {index::RemoveEntity{.id = doc_id_of("test", key)}},
                           .partitions = {partition}}));
  return Done{};
}

void LoggedShardUnderTest::settle() {
  for (int i = 0; i < 10'000; ++i) {
    const auto shipped = log_->shipper().step();
    const auto taken = log_->step_snapshots();
    KIN_CHECK(shipped.ok() && taken.ok(), "steps of a log do not fail");
    const StepOutcome both = combine(*shipped, *taken);
    if (both.did_work()) continue;
    const auto next = both.next(clock_.steady_now());
    if (!next) return;
    clock_.advance(*next - clock_.steady_now());
  }
  KIN_CHECK(false, "a log settles");
}

Status LoggedShardUnderTest::catch_up() {
  KIN_TRY(const auto from, host_->shipped_position());
  LogReader reader(below(), from.value_or(LogPosition{}));
  for (;;) {
    KIN_TRY(const auto object, reader.next());
    if (!object) return Done{};
    if (!object->batches.empty()) KIN_RETURN_IF_ERROR(host_->apply_shipped(*object));
  }
}

std::map<std::string, std::string> LoggedShardUnderTest::rows() {
  std::map<std::string, std::string> all;
  const fs::path folder = "/dump" + std::to_string(++dumps_);
  KIN_CHECK(disk_->make_folder(folder).ok() && host_->copy_rows(folder).ok(), "rows are copied");
  const auto add = [&](const char* name, kv::StoreOptions options) {
    options.observer = {};
    const auto store = kv::KeyValueStore::open(folder / name, options);
    KIN_CHECK(store.ok(), "a copy opens");
    for (std::uint32_t family = 0; family <= options.families.size(); ++family) {
      const auto visit = [&](std::string_view key, std::string_view value) {
        if (family > 0 || key != index::kShippedKey)
          all[std::string(name) + std::to_string(family) + " " + std::string(key)] = value;
        return Status(Done{});
      };
      KIN_CHECK((*store)->for_each("", visit, kv::Family{family}).ok(), "rows are read");
    }
  };
  add(index::kTruthFolder, index::truth_store_options(shard_options().truth));
  add(kDirectoryFolder, directory_store_options(shard_options().truth));
  return all;
}

std::vector<std::string> LoggedShardUnderTest::found(const std::string& word) {
  const auto hits = index::search(host_->shard().view(), {.text = index::TextLeg{.query = word}, .k = 1000});
  KIN_CHECK(hits.ok(), "the shard is searched");
  std::vector<std::string> keys;
  std::vector<DocId> ids;
  for (const auto& hit : hits->hits) ids.push_back(hit.doc.id);
  const auto entities = host_->shard().view().truth().get_many(ids, {});
  for (const auto& entity : *entities) {
    if (entity) keys.push_back(entity->entity.key);
  }
  std::ranges::sort(keys);
  return keys;
}

}  // namespace kin::router
