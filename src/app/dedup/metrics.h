// The figures of a run for monitoring systems: `--metrics FILE`.
#pragma once

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "dedup/ingest.h"

namespace kin::app {

// Prometheus' text format, version 0.0.4, as its node exporter collects it from files.
std::string to_prometheus(const dedup::IngestReport& report);
// One line of CloudWatch's embedded metric format, in the namespace "Kindred".
std::string to_embedded_metrics(const dedup::IngestReport& report, WallTime now);

// Replaces `file`: embedded metrics if it ends in .json, otherwise Prometheus' text.
Status write_metrics(const std::filesystem::path& file, const dedup::IngestReport& report,
                     WallTime now);

}  // namespace kin::app
