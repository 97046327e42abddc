// The tenants of a router, and their tokens, as a file lists them (docs/operations.md, "Tenants").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::server {

// What a tenant may use; nothing: as much as there is.
struct Quotas {
  std::optional<std::uint64_t> entities = {};
  std::optional<std::uint64_t> bytes = {};
  std::optional<double> queries_per_second = {};
  friend bool operator==(const Quotas&, const Quotas&) = default;
};

struct Tenant {
  std::string name = {};
  Quotas quotas = {};
  std::uint32_t weight = 1;  // of its requests when others wait, too
  friend bool operator==(const Tenant&, const Tenant&) = default;
};

// Thread-compatible.
class TenantList {
 public:
  // One JSON object a line; empty lines and those that start with # are passed over.
  // kInvalidArgument names the line that is wrong.
  static Result<TenantList> parse(std::string_view text);

  // The tenant of a token; null if the token is nobody's.
  const Tenant* of_token(std::string_view token) const;
  // Null if there is none.
  const Tenant* find(const std::string& name) const;
  std::size_t size() const { return tenants_.size(); }

 private:
  Status add_line(std::string_view line);

  std::map<std::string, Tenant> tenants_;      // by name
  std::map<std::string, std::string> tokens_;  // SHA-256 in hex -> name
};

}  // namespace kin::server
