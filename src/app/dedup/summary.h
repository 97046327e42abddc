// The summary of a finished run, for a terminal.
#pragma once

#include <string>

#include "dedup/report.h"

namespace kin::app {

std::string format_summary(const dedup::DedupReport& report);

// Warnings about the result, a line each; empty if there are none.
std::string format_warnings(const dedup::DedupReport& report);

}  // namespace kin::app
