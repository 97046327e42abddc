#include "server/api/moves_api.h"

#include <fmt/format.h>

#include <functional>
#include <limits>

#include "base/json_writer.h"
#include "data/json_fields.h"
#include "server/http/parameters.h"
#include "server/tenants/names.h"

namespace kin::server {
namespace {

using data::JsonFields;
using data::JsonValue;

constexpr std::uint64_t kMostMoves = 65'536;
constexpr std::uint64_t kMostFollowers = 10;
constexpr std::uint64_t kMostAdded = 64;  // partitions of one split

void write_move(JsonWriter& json, const ShownMove& shown, const router::ShardMap& map) {
  const router::Move& move = shown.move;
  const router::PhaseRule rule = router::rule_of(move.phase);
  const auto address = [&](std::uint32_t shard) {
    return shard < map.shards.size() ? map.shards[shard] : std::string();
  };
  json.begin_object().field("partition", static_cast<std::uint32_t>(move.partition));
  json.field("from", address(move.source)).field("to", address(move.target));
  json.field("phase", router::name_of(move.phase));
  json.field("over", rule.over).field("can_abort", rule.can_abort);
  if (!move.reason.empty()) json.field("reason", move.reason);
  if (shown.status) {
    const router::MoveStatus& status = *shown.status;
    json.field("entities", status.entities).field("of", status.of).field("bytes", status.bytes);
    json.field("bytes_per_second", status.bytes_per_second);
    json.key("seconds_left");
    if (status.left)
      json.value(status.left->count());
    else
      json.null();
    if (!status.problem.empty()) json.field("problem", status.problem);
  }
  json.end();
}

void write_plan(JsonWriter& json, const MovePlan& plan, std::string_view unit) {
  json.key("plan").begin_object().field("unit", unit).key("moves").begin_array();
  for (const router::NewMove& one : plan.moves) {
    const auto weight = plan.weights.find(one.partition);
    json.begin_object().field("partition", static_cast<std::uint32_t>(one.partition));
    json.field("from", plan.map.shards[plan.map.shard_of(one.partition)]);
    json.field("to", plan.map.shards[one.target]);
    json.field("weight", weight == plan.weights.end() ? 0.0 : weight->second).end();
  }
  json.end().key("shards").begin_array();
  for (std::size_t shard = 0; shard < plan.map.shards.size(); ++shard)
    json.begin_object()
        .field("address", plan.map.shards[shard])
        .field("before", plan.effect.before[shard])
        .field("after", plan.effect.after[shard])
        .end();
  json.end().field("skew_before", plan.effect.skew_before);
  json.field("skew_after", plan.effect.skew_after).end();
}

// Shows a plan, and begins it unless it is a dry run.
Result<Response> carry_out(Moving& moving, const std::string& index, const MovePlan& plan,
                           std::string_view unit, bool dry_run) {
  BegunMoves begun;
  if (!dry_run) {
    KIN_TRY(begun, moving.begin(index, plan));
  }
  JsonWriter json;
  json.begin_object();
  write_plan(json, plan, unit);
  json.field("begun", begun.begun).key("refused").begin_array();
  for (const BegunMoves::Refusal& one : begun.refused)
    json.begin_object()
        .field("partition", static_cast<std::uint32_t>(one.partition))
        .field("reason", one.reason)
        .end();
  return json_response(200, json.end().end().take());
}

Result<std::vector<std::uint32_t>> numbers_of(const std::vector<std::uint64_t>& given) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint64_t one : given) {
    if (one > std::numeric_limits<std::uint32_t>::max())
      return Error{Code::kInvalidArgument, fmt::format("there is no partition {}", one)};
    numbers.push_back(static_cast<std::uint32_t>(one));
  }
  return numbers;
}

void write_partitions(JsonWriter& json, const router::Partitions& partitions) {
  json.begin_array();
  for (const index::PartitionId one : partitions) json.value(static_cast<std::uint32_t>(one));
  json.end();
}

void write_repartition(JsonWriter& json, const std::optional<ShownRepartition>& shown,
                       const router::ShardMap& map) {
  json.key("repartition");
  if (!shown) {
    json.null();
    return;
  }
  const router::Repartition& made = shown->repartition;
  const router::RepartitionRule rule = router::rule_of(made.phase);
  json.begin_object().key("partitions");
  write_partitions(json, made.members);
  json.key("retired");
  write_partitions(json, made.retired);
  json.field("added", made.added);
  json.field("node", made.shard < map.shards.size() ? map.shards[made.shard] : std::string());
  json.field("phase", router::name_of(made.phase));
  json.field("over", rule.over).field("can_abort", rule.can_abort);
  if (!made.reason.empty()) json.field("reason", made.reason);
  if (shown->status) {
    json.field("looked", shown->status->divided.looked);
    json.field("moved", shown->status->divided.moved).field("placed", shown->status->placed);
    if (!shown->status->problem.empty()) json.field("problem", shown->status->problem);
  }
  json.end();
}

// Shows a plan, and begins its first repartition unless it is a dry run.
Result<Response> carry_out(Moving& moving, const std::string& index, const PartitionPlan& plan,
                           bool dry_run) {
  const bool begins = !dry_run && !plan.repartitions.empty();
  if (begins) KIN_RETURN_IF_ERROR(moving.begin(index, plan.repartitions.front()));
  JsonWriter json;
  json.begin_object().key("plan").begin_array();
  for (const router::NewRepartition& one : plan.repartitions) {
    double entities = 0;
    for (const index::PartitionId partition : one.partitions) {
      const auto weight = plan.entities.find(partition);
      entities += weight == plan.entities.end() ? 0 : weight->second;
    }
    json.begin_object().key("partitions");
    write_partitions(json, one.partitions);
    json.key("retired");
    write_partitions(json, one.retired);
    json.field("added", one.added).field("entities", entities);
    json.field("node", plan.map.shards[plan.map.shard_of(*one.partitions.begin())]).end();
  }
  return json_response(200, json.end().field("begun", begins).end().take());
}

Result<Response> list_answer(Moving& moving, const Request&, const std::string& index) {
  KIN_TRY(const router::ShardMap map, moving.map_of(index));
  KIN_TRY(const auto moves, moving.moves(index));
  JsonWriter json;
  json.begin_object().key("moves").begin_array();
  for (const ShownMove& one : moves) write_move(json, one, map);
  json.end();
  KIN_TRY(const auto divided, moving.repartition(index));
  write_repartition(json, divided, map);
  return json_response(200, json.end().take());
}

Result<Response> move_answer(Moving& moving, const Request& request, const std::string& index) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  std::vector<std::uint64_t> given;
  std::string to;
  bool dry_run = false;
  body.require("partitions");
  body.read("partitions", given);
  body.require("to");
  body.read("to", to);
  body.read("dry_run", dry_run);
  KIN_RETURN_IF_ERROR(body.finish());
  KIN_TRY(const auto partitions, numbers_of(given));
  KIN_TRY(const MovePlan plan, moving.plan_moves(index, partitions, to));
  return carry_out(moving, index, plan, "entities", dry_run);
}

struct NodeBody {
  std::string node = {};
  bool dry_run = false;
};
Result<NodeBody> node_in(const Request& request) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  NodeBody read;
  body.require("node");
  body.read("node", read.node);
  body.read("dry_run", read.dry_run);
  KIN_RETURN_IF_ERROR(body.finish());
  return read;
}

Result<Response> drain_answer(Moving& moving, const Request& request, const std::string& index) {
  KIN_TRY(const NodeBody asked, node_in(request));
  KIN_TRY(const MovePlan plan, moving.plan_drain(index, asked.node));
  return carry_out(moving, index, plan, "entities", asked.dry_run);
}

Result<Response> split_answer(Moving& moving, const Request& request, const std::string& index) {
  KIN_TRY(const NodeBody asked, node_in(request));
  if (!asked.dry_run) KIN_RETURN_IF_ERROR(moving.add_node(index, asked.node));
  KIN_TRY(const MovePlan plan, moving.plan_split(index, asked.node));
  return carry_out(moving, index, plan, "entities", asked.dry_run);
}

// Says how many copies each shard has, and answers where they are.
Result<Response> followers_answer(Moving& moving, const Request& request,
                                  const std::string& index) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  std::uint64_t count = 0;
  body.require("count");
  body.read("count", count, {0, kMostFollowers});
  KIN_RETURN_IF_ERROR(body.finish());
  KIN_TRY(const auto copies, moving.set_followers(index, count));
  KIN_TRY(const router::ShardMap map, moving.map_of(index));
  JsonWriter answer;
  answer.begin_object().key("followers").begin_array();
  for (const router::Follower& one : copies) {
    const auto place = map.place_of(one.shard);
    if (!place || map.shards[*place] == one.address) continue;
    answer.begin_object().field("shard", *place).field("owner", map.shards[*place]);
    answer.field("address", one.address).end();
  }
  return json_response(200, answer.end().end().take());
}

Result<Response> balance_answer(Moving& moving, const Request& request, const std::string& index) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  router::BalanceOptions options;
  std::string by = "size";
  bool dry_run = false;
  body.read("by", by);
  body.read("max_skew", options.max_skew, {1, 1'000});
  body.read("least_gain", options.least_gain, {0, 1});
  body.read("most", options.most, {1, kMostMoves});
  body.read("dry_run", dry_run);
  KIN_RETURN_IF_ERROR(body.finish());
  KIN_TRY(const BalanceBy measure, balance_by_named(by));
  KIN_TRY(const MovePlan plan, moving.plan_balance(index, measure, options));
  return carry_out(moving, index, plan, measure == BalanceBy::kSize ? "entities" : "ms/s", dry_run);
}

// One of "partitions", with "added" or "retired", "retrain", which names a node, and neither: a
// plan.
Result<Response> repartition_answer(Moving& moving, const Request& request,
                                    const std::string& index) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  std::vector<std::uint64_t> given;
  std::vector<std::uint64_t> retired;
  std::uint64_t added = 0;
  std::string node;
  double target = 0;
  router::PartitionPlanOptions options;
  bool dry_run = false;
  body.read("partitions", given);
  body.read("retired", retired);
  body.read("added", added, {0, kMostAdded});
  body.read("retrain", node);
  body.read("target", target, {0, 1e12});
  body.read("split_above", options.split_above, {1, 1'000});
  body.read("merge_below", options.merge_below, {0, 1});
  body.read("least", options.least, {0, 1e12});
  body.read("dry_run", dry_run);
  KIN_RETURN_IF_ERROR(body.finish());
  if (!given.empty() && !node.empty())
    return Error{Code::kInvalidArgument, "either \"partitions\" or \"retrain\" is needed"};
  if (given.empty() && (added > 0 || !retired.empty()))
    return Error{Code::kInvalidArgument, "\"added\" and \"retired\" need \"partitions\""};
  if (target > 0) options.target = target;
  PartitionPlan plan;
  if (!node.empty()) {
    KIN_TRY(plan, moving.plan_retraining(index, node));
  } else if (given.empty()) {
    KIN_TRY(plan, moving.plan_partitions(index, options));
  } else {
    router::NewRepartition wanted{.added = static_cast<std::uint32_t>(added)};
    KIN_TRY(const auto partitions, numbers_of(given));
    for (const std::uint32_t one : partitions) wanted.partitions.insert(index::PartitionId{one});
    KIN_TRY(const auto without, numbers_of(retired));
    for (const std::uint32_t one : without) wanted.retired.insert(index::PartitionId{one});
    KIN_TRY(plan, moving.plan_repartition(index, wanted));
  }
  return carry_out(moving, index, plan, dry_run);
}

// Aborts the moves of some partitions, or of all that can be aborted.
Result<Response> abort_answer(Moving& moving, const Request& request, const std::string& index) {
  KIN_TRY(const JsonValue json, parse_json_body(request));
  JsonFields body(json);
  std::vector<std::uint64_t> given;
  bool all = false;
  bool repartition = false;
  body.read("partitions", given);
  body.read("all", all);
  body.read("repartition", repartition);
  KIN_RETURN_IF_ERROR(body.finish());
  if (repartition) {
    if (all || !given.empty())
      return Error{Code::kInvalidArgument, "\"repartition\" is aborted by itself"};
    KIN_RETURN_IF_ERROR(moving.abort_repartition(index));
    JsonWriter answer;
    return json_response(200,
                         answer.begin_object().key("aborted").begin_array().end().end().take());
  }
  if (all != given.empty())
    return Error{Code::kInvalidArgument, "either \"partitions\" or \"all\": true is needed"};
  KIN_TRY(auto partitions, numbers_of(given));
  if (all) {
    KIN_TRY(const auto moves, moving.moves(index));
    for (const ShownMove& one : moves) {
      if (router::rule_of(one.move.phase).can_abort)
        partitions.push_back(static_cast<std::uint32_t>(one.move.partition));
    }
  }
  JsonWriter answer;
  answer.begin_object().key("aborted").begin_array();
  for (const std::uint32_t partition : partitions) {
    const Status aborted = moving.abort(index, partition);
    // One of all may have been completed meanwhile.
    if (!aborted.ok() && !(all && aborted.error().code == Code::kFailedPrecondition))
      return aborted.error();
    if (aborted.ok()) answer.value(partition);
  }
  return json_response(200, answer.end().end().take());
}

using Answer = Result<Response> (*)(Moving&, const Request&, const std::string&);

Response answer_operator(Moving& moving, const Request& request, const std::string& name,
                         Answer answer) {
  if (!request.tenant.empty())
    return error_response(403, "nodes and moves are for the operator's token");
  if (const Status named = check_full_name(name); !named.ok())
    return error_response(named.error());
  return or_error(answer(moving, request, name), Blame::kRemote);
}

}  // namespace

void add_moves_api(RouteTable& routes, Moving& moving) {
  const auto add = [&](const char* method, const char* below, Answer answer) {
    routes.add({.method = method,
                .pattern = std::string("/api/v1/indexes/{name}") + below,
                .named_handler =
                    [&moving, answer](const Request& request, const std::string& name) {
                      return answer_operator(moving, request, name, answer);
                    },
                .lane = Lane::kSlow});
  };
  add("GET", "/moves", list_answer);
  add("POST", "/moves", move_answer);
  add("POST", "/drain", drain_answer);
  add("POST", "/split", split_answer);
  add("POST", "/balance", balance_answer);
  add("POST", "/followers", followers_answer);
  add("POST", "/abort", abort_answer);
  add("POST", "/repartition", repartition_answer);
}

}  // namespace kin::server
