// The contract of every MetaStore.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "router/meta_store.h"

namespace kin::router {

// One thread only.
class ReachableMeta {
 public:
  virtual ~ReachableMeta() = default;
  virtual MetaStore& meta() = 0;
  virtual Clock& clock() = 0;
  // The store stops without a warning and starts again.
  virtual void restart() = 0;
};

using MakeMeta = std::unique_ptr<ReachableMeta> (*)();
// The same function. Whoever instantiates the suite calls this, so that the suite is linked.
MakeMeta with_contract(MakeMeta make);

class MetaStoreContract : public testing::TestWithParam<MakeMeta> {
 protected:
  MetaStoreContract() : reached_(GetParam()()) {}
  MetaStore& meta() { return reached_->meta(); }
  ReachableMeta& reached() { return *reached_; }
  SteadyTime now() { return reached_->clock().steady_now(); }

  std::optional<std::uint64_t> swap(std::string_view key, std::uint64_t expected,
                                    std::optional<std::string_view> bytes);
  std::string value(std::string_view key);  // "-" if there is none
  // "key=value" of what changed, "key-" for removed keys.
  std::vector<std::string> changed(std::string_view prefix, std::uint64_t after);

 private:
  std::unique_ptr<ReachableMeta> reached_;
};

}  // namespace kin::router
