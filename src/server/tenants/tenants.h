// Who asks, and how much they may use.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "server/http/message.h"
#include "server/tenants/tenant_list.h"

namespace kin::server {

// What the indexes of a tenant take.
struct Usage {
  std::uint64_t entities = 0;
  std::uint64_t bytes = 0;
};

// The tenants of a file, which may change. Thread-safe.
class Tenants {
 public:
  // `clock` must outlive it.
  static Result<std::unique_ptr<Tenants>> open(std::filesystem::path file, Clock& clock);

  // Reads the file again. If that fails, the tenants stay as they were.
  Status refresh();

  // The name of the tenant whose token this is; nothing if it is nobody's.
  std::optional<std::string> of_token(std::string_view token) const;
  std::uint32_t weight_of(const std::string& tenant) const;

  // Counts a request. 429 if the tenant has made its requests of this second.
  std::optional<Response> count_request(const std::string& tenant);

  // Says how much the tenant's indexes take now. Set once, before any call of reserve().
  using Measure = std::function<Result<Usage>(const std::string& tenant)>;
  void measure_by(Measure measure) { measure_ = std::move(measure); }
  // Makes room for a write. 403 if it does not fit. `count_new` says how many of its entities do
  // not exist yet; it is called only if not all of them fit, and `write` then has their number.
  using CountNew = std::function<Result<std::uint64_t>()>;
  std::optional<Response> reserve(const std::string& tenant, Usage& write,
                                  const CountNew& count_new);
  // The write that reserve() made room for has ended.
  void settle(const std::string& tenant, const Usage& write);

 private:
  struct Turns {
    double left = 0;  // requests that the tenant may make
    SteadyTime at{};  // when that was so
  };
  // What this process knows of a tenant's storage.
  struct Account {
    std::mutex mutex;  // held while it is measured; guards what follows
    Usage measured = {};
    std::optional<SteadyTime> measured_at = {};
    Usage since = {};    // written after it was measured
    Usage running = {};  // being written
  };

  Tenants(std::filesystem::path file, Clock& clock) : file_(std::move(file)), clock_(clock) {}
  std::shared_ptr<const TenantList> list() const;
  Quotas quotas_of(const std::string& tenant) const;
  std::shared_ptr<Account> account(const std::string& tenant);
  // With the account's lock. Measures unless that was done within `age`.
  void measure(const std::string& tenant, Account& account, std::chrono::milliseconds age);

  const std::filesystem::path file_;
  Clock& clock_;
  Measure measure_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const TenantList> list_;
  std::map<std::string, Turns> turns_;
  std::map<std::string, std::shared_ptr<Account>> accounts_;
};

}  // namespace kin::server
