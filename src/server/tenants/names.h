// Names of indexes inside: tenants' indexes have the tenant's name in front.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "search/index_folder.h"

namespace kin::server {

// Between a tenant and a name; no name contains it.
inline constexpr char kTenantEnd = '.';

// "acme.papers" of the tenant "acme"; "papers" if the tenant is empty. Thread-safe.
inline std::string full_name(std::string_view tenant, std::string_view name) {
  if (tenant.empty()) return std::string(name);
  return std::string(tenant).append(1, kTenantEnd).append(name);
}

// kInvalidArgument unless it is the name of an index, or such a name after that of a tenant.
// Thread-safe.
inline Status check_full_name(std::string_view name) {
  const std::size_t end = name.find(kTenantEnd);
  if (end == std::string_view::npos) return search::check_name(name);
  KIN_RETURN_IF_ERROR(search::check_name(name.substr(0, end)));
  return search::check_name(name.substr(end + 1));
}

}  // namespace kin::server
