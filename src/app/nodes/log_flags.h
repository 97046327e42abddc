// Flags of the shipped log of a node.
#pragma once

#include <string>

#include "app/options.h"
#include "base/result.h"
#include "server/node_service.h"

namespace kin::app {

struct LogFlags {
  std::string log = {};
  std::string ack = "local";
  std::string name = {};
  double retention_hours = 24;
};

void add_shipped_log_flags(Verb verb, LogFlags& flags);
// Puts them into the options of a node. kInvalidArgument names the flag that is wrong.
Status understand(const LogFlags& flags, server::NodeOptions& options);

}  // namespace kin::app
