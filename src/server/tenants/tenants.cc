#include "server/tenants/tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"

namespace kin::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Usage that is older is measured again before a write; other routers may have written meanwhile.
constexpr milliseconds kOldUsage = seconds{5};
// Before a write is refused, usage is measured again unless it is this new.
constexpr milliseconds kNewUsage{500};

Usage operator+(const Usage& one, const Usage& other) {
  return {.entities = one.entities + other.entities, .bytes = one.bytes + other.bytes};
}
Usage without(const Usage& all, const Usage& part) {
  return {.entities = all.entities - std::min(all.entities, part.entities),
          .bytes = all.bytes - std::min(all.bytes, part.bytes)};
}

// A write that adds nothing fits, however full it is.
bool fits(std::optional<std::uint64_t> quota, std::uint64_t used, std::uint64_t added) {
  return !quota || added == 0 || used + added <= *quota;
}
bool fits(const Quotas& quotas, const Usage& used, const Usage& added) {
  return fits(quotas.entities, used.entities, added.entities) &&
         fits(quotas.bytes, used.bytes, added.bytes);
}

Response no_room(const std::string& tenant, const Quotas& quotas, const Usage& used,
                 const Usage& write) {
  const bool many = !fits(quotas.entities, used.entities, write.entities);
  const std::string what = many ? fmt::format("{} of its {} documents, and {} more do not fit",
                                              used.entities, *quotas.entities, write.entities)
                                : fmt::format("{} of its {} bytes, and {} more do not fit",
                                              used.bytes, *quotas.bytes, write.bytes);
  return error_response(403, fmt::format("tenant \"{}\" has {}: remove documents, or ask for a "
                                         "larger quota",
                                         tenant, what));
}

}  // namespace

Result<std::unique_ptr<Tenants>> Tenants::open(std::filesystem::path file, Clock& clock) {
  std::unique_ptr<Tenants> tenants(new Tenants(std::move(file), clock));
  KIN_RETURN_IF_ERROR(tenants->refresh());
  return tenants;
}

Status Tenants::refresh() {
  KIN_TRY(const std::string text, read_file(file_));
  auto parsed = TenantList::parse(text);
  if (!parsed) return with_context(file_.string(), parsed.error());
  if (parsed->size() == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: there is no tenant in it", file_.string())};
  auto next = std::make_shared<const TenantList>(std::move(*parsed));
  const std::lock_guard lock(mutex_);
  list_ = std::move(next);
  return Done{};
}

std::shared_ptr<const TenantList> Tenants::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

std::optional<std::string> Tenants::of_token(std::string_view token) const {
  const auto now = list();
  const Tenant* tenant = now->of_token(token);
  if (tenant == nullptr) return std::nullopt;
  return tenant->name;
}

std::uint32_t Tenants::weight_of(const std::string& tenant) const {
  const auto now = list();
  const Tenant* known = now->find(tenant);
  return known == nullptr ? 1 : known->weight;
}

Quotas Tenants::quotas_of(const std::string& tenant) const {
  const auto now = list();
  const Tenant* known = now->find(tenant);
  return known == nullptr ? Quotas{} : known->quotas;
}

std::shared_ptr<Tenants::Account> Tenants::account(const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  auto& known = accounts_[tenant];
  if (!known) known = std::make_shared<Account>();
  return known;
}

std::optional<Response> Tenants::count_request(const std::string& tenant) {
  const Quotas quotas = quotas_of(tenant);
  if (!quotas.queries_per_second) return std::nullopt;
  const double rate = *quotas.queries_per_second;
  const double most = std::max(1.0, rate);  // a second's requests may come at once
  const std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.steady_now();
  Turns& turns = turns_.try_emplace(tenant, Turns{.left = most, .at = now}).first->second;
  const std::chrono::duration<double> passed = now - turns.at;
  turns = {.left = std::min(most, turns.left + passed.count() * rate), .at = now};
  if (turns.left >= 1) {
    turns.left -= 1;
    return std::nullopt;
  }
  const double wait = std::ceil((1 - turns.left) / rate);
  Response response = error_response(
      429,
      fmt::format("tenant \"{}\" may make {} requests a second: wait and send it again, or ask "
                  "for a larger quota",
                  tenant, rate));
  response.headers.push_back({"Retry-After", fmt::format("{:.0f}", std::max(1.0, wait))});
  return response;
}

void Tenants::measure(const std::string& tenant, Account& account, milliseconds age) {
  if (account.measured_at && clock_.steady_now() - *account.measured_at < age) return;
  const auto found = measure_(tenant);
  // While a node does not answer, the last figures and what was written since must do.
  if (!found.ok()) return;
  account.measured = *found;
  account.since = {};
  account.measured_at = clock_.steady_now();
}

std::optional<Response> Tenants::reserve(const std::string& tenant, Usage& write,
                                         const CountNew& count_new) {
  const Quotas quotas = quotas_of(tenant);
  if (!quotas.entities && !quotas.bytes) return std::nullopt;
  const auto one = account(tenant);
  const std::lock_guard lock(one->mutex);
  const auto used = [&] { return one->measured + one->since + one->running; };
  measure(tenant, *one, kOldUsage);
  if (!fits(quotas, used(), write)) measure(tenant, *one, kNewUsage);
  if (!fits(quotas, used(), write)) {
    // Documents that replace others need no room.
    if (const auto fresh = count_new(); fresh.ok()) write.entities = *fresh;
    if (!fits(quotas, used(), write)) return no_room(tenant, quotas, used(), write);
  }
  one->running = one->running + write;
  return std::nullopt;
}

void Tenants::settle(const std::string& tenant, const Usage& write) {
  const Quotas quotas = quotas_of(tenant);
  if (!quotas.entities && !quotas.bytes) return;
  const auto one = account(tenant);
  const std::lock_guard lock(one->mutex);
  one->running = without(one->running, write);
  one->since = one->since + write;
}

}  // namespace kin::server
