// Flags of the store that routers and nodes share.
#pragma once

#include <optional>
#include <string>

#include "app/options.h"
#include "base/result.h"
#include "router/etcd_meta_store.h"

namespace kin::app {

struct MetaFlags {
  std::string meta = {};
  std::string login_file = {};
  std::string certificates = {};
};

// --meta, --meta-login-file and --meta-ca. `what` is the help of --meta.
void add_meta_flags(Verb verb, MetaFlags& flags, const char* what);
// Nothing without --meta. kInvalidArgument names the flag that is wrong.
Result<std::optional<router::EtcdOptions>> understand(const MetaFlags& flags);

}  // namespace kin::app
