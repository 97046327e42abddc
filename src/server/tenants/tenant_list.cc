#include "server/tenants/tenant_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "data/json_fields.h"
#include "search/index_folder.h"
#include "server/http/gatekeeper.h"

namespace kin::server {
namespace {

constexpr std::size_t kDigestDigits = 64;
constexpr std::uint32_t kMostWeight = 1'000;

bool is_digest(std::string_view text) {
  return text.size() == kDigestDigits && std::ranges::all_of(text, [](char c) {
           return is_ascii_digit(c) || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

Status TenantList::add_line(std::string_view line) {
  KIN_TRY(const data::JsonValue json, data::parse_json(line));
  data::JsonFields fields(json);
  Tenant tenant;
  std::string digest;
  fields.require("tenant");
  fields.require("token_sha256");
  fields.read("tenant", tenant.name);
  fields.read("token_sha256", digest);
  fields.read("entities", tenant.quotas.entities);
  fields.read("bytes", tenant.quotas.bytes);
  fields.read("queries_per_second", tenant.quotas.queries_per_second, data::JsonRange{0.001, 1e9});
  fields.read("weight", tenant.weight, {1, kMostWeight});
  KIN_RETURN_IF_ERROR(fields.finish());
  if (!search::check_name(tenant.name).ok())
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a name for a tenant (use up to 64 letters, digits, - "
                             "and _)",
                             tenant.name)};
  if (!is_digest(digest))
    return Error{Code::kInvalidArgument,
                 "field \"token_sha256\" must be 64 hexadecimal digits in lower case (printf %s "
                 "\"$TOKEN\" | sha256sum)"};
  const auto [owner, is_new] = tokens_.emplace(std::move(digest), tenant.name);
  if (!is_new)
    return Error{Code::kInvalidArgument,
                 fmt::format("this token is that of tenant \"{}\" already", owner->second)};
  const auto known = tenants_.emplace(tenant.name, tenant).first;
  if (known->second != tenant)
    return Error{Code::kInvalidArgument,
                 fmt::format("tenant \"{}\" has other quotas or another weight on a line before",
                             tenant.name)};
  return Done{};
}

Result<TenantList> TenantList::parse(std::string_view text) {
  TenantList list;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    if (const Status added = list.add_line(content); !added.ok())
      return with_context(fmt::format("line {}", number), added.error());
  }
  return list;
}

const Tenant* TenantList::of_token(std::string_view token) const {
  // A digest is looked up, so the time says nothing about the tokens themselves.
  const auto name = tokens_.find(to_hex(sha256(token)));
  return name == tokens_.end() ? nullptr : find(name->second);
}

const Tenant* TenantList::find(const std::string& name) const {
  const auto tenant = tenants_.find(name);
  return tenant == tenants_.end() ? nullptr : &tenant->second;
}

}  // namespace kin::server
