#include "app/nodes/log_flags.h"

#include <fmt/format.h>

#include <filesystem>

namespace kin::app {

void add_shipped_log_flags(Verb verb, LogFlags& flags) {
  verb.add_option(
          "--log", flags.log,
          "Ship every change to s3://BUCKET/PREFIX or a folder that outlives this machine; a "
          "node of this name with an empty data folder gets its shards back from there")
      .type_name("s3://...|DIR");
  verb.add_option(
          "--ack", flags.ack,
          "When a change is acknowledged: local (it is on this machine's disk) or durable (it "
          "is in the log, too)")
      .type_name("local|durable")
      .capture_default_str();
  verb.add_option(
          "--log-name", flags.name,
          "The node's name in the log, the same for ever (default: the address of --listen)")
      .type_name("NAME");
  verb.add_option("--log-retention", flags.retention_hours,
                  "How many hours back a point in time can be restored")
      .type_name("HOURS")
      .capture_default_str();
}

Status understand(const LogFlags& flags, server::NodeOptions& options) {
  if (flags.ack != "local" && flags.ack != "durable")
    return Error{Code::kInvalidArgument, fmt::format("--ack is local or durable, not {}", flags.ack)};
  if (flags.log.empty() && flags.ack == "durable")
    return Error{Code::kInvalidArgument, "--ack durable needs --log"};
  if (flags.retention_hours < 0)
    return Error{Code::kInvalidArgument, "--log-retention cannot be negative"};
  std::error_code ignored;
  if (flags.log == "-" || std::filesystem::is_regular_file(flags.log, ignored))
    return Error{Code::kInvalidArgument,
                 "--log is the place that changes are shipped to; --call-log FILE has a line for each "
                 "call"};
  options.shipped_log = flags.log;
  options.durable = flags.ack == "durable";
  options.name = flags.name;
  options.retention = std::chrono::milliseconds(
      static_cast<std::int64_t>(flags.retention_hours * 3'600'000));
  return Done{};
}

}  // namespace kin::app
