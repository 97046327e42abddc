// A MetaStore in etcd 3.4, for any number of routers.
//
//   KIN_TRY(EtcdOptions options, parse_etcd_address("etcd://10.0.0.1:2379,10.0.0.2:2379/kindred"));
//   KIN_TRY(auto meta, EtcdMetaStore::open(std::move(options)));
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "router/meta/etcd_calls.h"
#include "router/meta_store.h"

namespace kin::router {

struct EtcdOptions {
  EtcdAccess access = {};
  std::string prefix = "kindred/";  // before every key
};

// "etcd://HOST:PORT[,HOST:PORT…][/PREFIX]". kInvalidArgument says what is wrong with it.
Result<EtcdOptions> parse_etcd_address(std::string_view text);

// Speaks etcd's JSON gateway. A removed key leaves a mark, so that a watcher learns of it whenever
// it looks, however much of its history etcd has dropped. Thread-safe.
class EtcdMetaStore final : public MetaStore {
 public:
  // Reads a row, so that a wrong address or password is found at once.
  static Result<std::unique_ptr<EtcdMetaStore>> open(EtcdOptions options);

  Result<std::optional<MetaValue>> get(std::string_view key) override;
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override;
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override;

  // Ends all calls, now and in future, with kCancelled.
  void stop() { calls_.stop(); }

 private:
  explicit EtcdMetaStore(EtcdOptions options);
  std::string key_of(std::string_view key) const { return std::string(prefix_).append(key); }
  // Blocks until something with this prefix changes after `after`, or `until`.
  Status await_change(std::string_view prefix, std::uint64_t after, SteadyTime until);

  const std::string prefix_;
  const Clock& clock_;
  EtcdCalls calls_;
};

}  // namespace kin::router
