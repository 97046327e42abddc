#include "router/etcd_meta_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "router/meta/etcd_messages.h"

namespace kin::router {
namespace {

constexpr std::string_view kScheme = "etcd://";
constexpr const char* kRange = "/v3/kv/range";
constexpr const char* kTransaction = "/v3/kv/txn";
constexpr const char* kWatch = "/v3/watch";

bool is_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos &&
         text.find_first_of("@?#% ") == std::string_view::npos;
}

}  // namespace

Result<EtcdOptions> parse_etcd_address(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("\"{}\" is not like etcd://HOST:PORT,HOST:PORT/PREFIX: {}", text, why)};
  };
  if (!text.starts_with(kScheme)) return wrong("it does not start with etcd://");
  std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view members = rest.substr(0, slash);
  std::string_view prefix = rest.substr(std::min(slash + 1, rest.size()));
  EtcdOptions options;
  while (!members.empty() || options.access.endpoints.empty()) {
    const std::string_view one = members.substr(0, members.find(','));
    if (!is_endpoint(one)) return wrong(fmt::format("\"{}\" is not HOST:PORT", one));
    options.access.endpoints.emplace_back(one);
    members.remove_prefix(std::min(members.size(), one.size() + 1));
  }
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.empty()) options.prefix = std::string(prefix) + "/";
  return options;
}

EtcdMetaStore::EtcdMetaStore(EtcdOptions options)
    : prefix_(std::move(options.prefix)),
      clock_(*options.access.clock),
      calls_(std::move(options.access)) {}

Result<std::unique_ptr<EtcdMetaStore>> EtcdMetaStore::open(EtcdOptions options) {
  std::unique_ptr<EtcdMetaStore> store(new EtcdMetaStore(std::move(options)));
  KIN_TRY([[maybe_unused]] const auto any, store->get("map/"));
  return store;
}

Result<std::optional<MetaValue>> EtcdMetaStore::get(std::string_view key) {
  KIN_TRY(const std::string answer, calls_.read(kRange, range_request({.key = key_of(key)})));
  KIN_TRY(EtcdRange found, parse_range(answer));
  if (found.rows.empty() || !found.rows[0].row.bytes) return std::optional<MetaValue>();
  MetaRow& row = found.rows[0].row;
  return std::optional(MetaValue{.bytes = std::move(*row.bytes), .revision = row.revision});
}

Result<std::optional<std::uint64_t>> EtcdMetaStore::swap(std::string_view key,
                                                         std::uint64_t expected,
                                                         std::optional<std::string_view> bytes) {
  EtcdSwapQuestion question{.key = key_of(key), .revision = expected, .value = etcd_value(bytes)};
  // A key that does not exist may have a row that says so, whose revision etcd compares.
  if (expected == 0) {
    KIN_TRY(const std::string answer, calls_.read(kRange, range_request({.key = question.key})));
    KIN_TRY(const EtcdRange now, parse_range(answer));
    const bool has_row = !now.rows.empty();
    if (has_row && now.rows[0].row.bytes) return std::optional<std::uint64_t>();
    if (!bytes) return std::optional(now.revision);  // there is nothing to remove
    question.removed = has_row;
    question.revision = has_row ? now.rows[0].row.revision : 0;
  }
  KIN_TRY(const std::string answer, calls_.write(kTransaction, swap_request(question)));
  KIN_TRY(const EtcdSwap swapped, parse_swap(answer));
  if (!swapped.succeeded) return std::optional<std::uint64_t>();
  return std::optional(swapped.revision);
}

Result<MetaChanges> EtcdMetaStore::watch(std::string_view prefix, std::uint64_t after,
                                         SteadyTime until) {
  const std::string first = key_of(prefix);
  for (;;) {
    const EtcdRangeQuestion question{
        .key = first, .end = prefix_end(first), .least = after == 0 ? 0 : after + 1};
    KIN_TRY(const std::string answer, calls_.read(kRange, range_request(question)));
    KIN_TRY(EtcdRange found, parse_range(answer));
    MetaChanges changes{.revision = found.revision};
    for (EtcdRow& one : found.rows) {
      if (after == 0 && !one.row.bytes) continue;
      MetaEntry& entry = changes.entries.emplace_back();
      entry.key = one.key.substr(prefix_.size());
      if (one.row.bytes)
        entry.value = MetaValue{.bytes = std::move(*one.row.bytes), .revision = one.row.revision};
    }
    if (!changes.entries.empty() || clock_.steady_now() >= until) return changes;
    KIN_RETURN_IF_ERROR(await_change(first, found.revision, until));
    if (clock_.steady_now() >= until) return changes;
    after = found.revision;
  }
}

Status EtcdMetaStore::await_change(std::string_view prefix, std::uint64_t after, SteadyTime until) {
  const EtcdRangeQuestion question{
      .key = std::string(prefix), .end = prefix_end(prefix), .least = after + 1};
  Status problem = Done{};
  const auto take = [&](std::string_view line) {
    const auto parsed = parse_watch_line(line);
    if (!parsed.ok()) {
      problem = parsed.error();
      return false;
    }
    if (parsed->ended && !parsed->changed)
      problem = Error{Code::kUnavailable, "etcd ended a watch: " + *parsed->ended};
    return !parsed->changed && !parsed->ended;
  };
  KIN_RETURN_IF_ERROR(calls_.stream(kWatch, watch_request(question), until, take));
  return problem;
}

}  // namespace kin::router
